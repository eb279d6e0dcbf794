import Domain
import Glibc
import ProgramKit

/// Standard input, line by line, for a program that does other things at the same time.
enum StandardInput {
    /// The lines from now on, without their ends and without empty ones. Call it once.
    ///
    /// A read from a terminal blocks until somebody types. Swift has only as many threads as there are cores, and
    /// losing one may stop the program, so the reads have a thread of their own. It ends with the input or with the
    /// program. It reads the descriptor rather than `stdin`, whose lock it would hold while the program exits.
    static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        begin(.lines(continuation))
        return stream
    }

    /// Whatever comes, as it comes: keys of a terminal that does not wait for whole lines. Call it once.
    static func chunks() -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        begin(.chunks(continuation))
        return stream
    }

    private static func begin(_ sink: Reader.Sink) {
        let reader = Unmanaged.passRetained(Reader(sink))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Reader>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, reader.toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            // No thread could be created: the program runs all the same, but hears nothing that is typed.
            reader.release()
            sink.finish()
        }
    }

    private final class Reader: Sendable {
        enum Sink: Sendable {
            case lines(AsyncStream<String>.Continuation)
            case chunks(AsyncStream<[UInt8]>.Continuation)

            func finish() {
                switch self {
                case .lines(let continuation): continuation.finish()
                case .chunks(let continuation): continuation.finish()
                }
            }
        }

        private let sink: Sink

        init(_ sink: Sink) { self.sink = sink }

        func run() {
            var lines = LineSplitter()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = Glibc.read(0, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                take(Array(buffer[..<count]), &lines)
            }
            // The last line of a file may lack a line end.
            if case .lines = sink { take([UInt8(ascii: "\n")], &lines) }
            sink.finish()
        }

        private func take(_ bytes: [UInt8], _ lines: inout LineSplitter) {
            switch sink {
            case .chunks(let continuation): continuation.yield(bytes)
            case .lines(let continuation):
                // Lines may have any length here, so splitting does not fail.
                for line in (try? lines.split(bytes)) ?? [] {
                    continuation.yield(String(decoding: line, as: UTF8.self))
                }
            }
        }
    }
}
