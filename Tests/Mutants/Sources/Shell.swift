import Foundation
import Glibc
import Synchronization

/// Runs other programs.
enum Shell {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// How a program ended, nil where it was killed for its time, everything that it printed, and what it took of a
    /// processor until it last printed something, in seconds.
    typealias Ended = (status: Int32?, output: String, time: Double)

    /// - Returns: what it printed.
    static func output(_ command: [String], in folder: URL) throws -> String {
        let (status, output, _) = try run(command, in: folder)
        guard status == 0 else {
            throw Failed(description: "\(command.joined(separator: " ")): \(output.suffix(2000))")
        }
        return output
    }

    /// - Parameters:
    ///   - limit: it is killed after so many seconds of a processor's time, or once it has long used
    ///     none: what does not end either runs in a circle or waits for what never comes.
    ///   - enough: it is killed once a line says this.
    static func run(
        _ command: [String], in folder: URL, environment: [String: String] = [:], limit: Double? = nil,
        enough: String? = nil
    ) throws -> Ended {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // It ends with this program, however that ends.
        process.arguments = ["setpriv", "--pdeathsig", "KILL"] + command
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()

        let isLate = Atomic(false)
        let identifier = process.processIdentifier
        let watch = limit.map { limit in
            let timer = DispatchSource.makeTimerSource()
            let patience = Mutex(Patience(limit: limit))
            timer.schedule(deadline: .now() + 0.25, repeating: 0.25)
            timer.setEventHandler {
                guard let used = processorTime(of: identifier),
                    patience.withLock({ $0.isOver(at: .now, used: used) })
                else { return }
                isLate.store(true, ordering: .releasing)
                kill(identifier, SIGKILL)
            }
            timer.resume()
            return timer
        }
        var output = Data()
        var used = 0.0
        let sign = enough.map { Data($0.utf8) }
        var signed: Data.Index?
        while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
            let before = output.endIndex
            output.append(piece)
            used = processorTime(of: identifier) ?? used
            if let sign, signed == nil {
                signed = output.range(of: sign, in: max(0, before - sign.count)..<output.endIndex)?.upperBound
            }
            // Not before the rest of the line, which may come by itself.
            if let signed, output[signed...].contains(UInt8(ascii: "\n")) { kill(identifier, SIGKILL) }
        }
        watch?.cancel()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        return (isLate.load(ordering: .acquiring) ? nil : process.terminationStatus, text, used)
    }

    /// How long a program is waited for.
    private struct Patience: Sendable {
        /// In seconds of a processor's time.
        let limit: Double
        private var mark = (time: ContinuousClock.now, used: 0.0)
        /// Tests wait for real sockets and timers now and then, but none of them for so long.
        private static let idleMax = Duration.seconds(15)

        init(limit: Double) { self.limit = limit }

        /// Whether it has used up its time, or has long done nothing.
        mutating func isOver(at now: ContinuousClock.Instant, used: Double) -> Bool {
            if used > limit { return true }
            guard used - mark.used < 0.05 else {
                mark = (now, used)
                return false
            }
            return now - mark.time > Self.idleMax
        }
    }

    /// In seconds; nil where there is no such process. Wall time would say as much of whatever else the machine does.
    private static func processorTime(of process: Int32) -> Double? {
        // proc(5): what stands behind the name, which is in brackets, are fields from the third on; 14 and 15 are ticks.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[end...].split(separator: " ").dropFirst()
        guard fields.count > 13, let user = Double(fields[fields.startIndex + 11]),
            let system = Double(fields[fields.startIndex + 12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
