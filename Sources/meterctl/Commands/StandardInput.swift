import Domain
import Glibc
import ProgramKit

enum StandardInput {
    /// Returns the lines from now on, without line ends and without empty lines. Call it once.
    ///
    /// A read from a terminal blocks, and Swift has only as many threads as cores, so the reads have their own thread.
    /// It reads the descriptor rather than `stdin`: a blocked read would hold the lock of `stdin` while the program
    /// exits.
    static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        begin(.lines(continuation))
        return stream
    }

    /// Returns input as it arrives, for a terminal that does not wait for whole lines. Call it once.
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
            // A file may lack the final line end.
            if case .lines = sink { take([UInt8(ascii: "\n")], &lines) }
            sink.finish()
        }

        private func take(_ bytes: [UInt8], _ lines: inout LineSplitter) {
            switch sink {
            case .chunks(let continuation): continuation.yield(bytes)
            case .lines(let continuation):
                for line in (try? lines.split(bytes)) ?? [] {
                    continuation.yield(String(decoding: line, as: UTF8.self))
                }
            }
        }
    }
}
