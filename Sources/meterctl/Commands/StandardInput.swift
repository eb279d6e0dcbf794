import Glibc
import MeterModel
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
        let reader = Unmanaged.passRetained(Reader(continuation))
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
            // No thread could be created: the simulator runs all the same, but takes no commands.
            reader.release()
            continuation.finish()
        }
        return stream
    }

    private final class Reader: Sendable {
        private let continuation: AsyncStream<String>.Continuation

        init(_ continuation: AsyncStream<String>.Continuation) { self.continuation = continuation }

        func run() {
            var lines = LineSplitter()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(0, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                take(Array(buffer[..<count]), &lines)
            }
            // The last line of a file may lack a line end.
            take([UInt8(ascii: "\n")], &lines)
            continuation.finish()
        }

        private func take(_ bytes: [UInt8], _ lines: inout LineSplitter) {
            // Lines may have any length here, so splitting does not fail.
            for line in (try? lines.split(bytes)) ?? [] {
                continuation.yield(String(decoding: line, as: UTF8.self))
            }
        }
    }
}
