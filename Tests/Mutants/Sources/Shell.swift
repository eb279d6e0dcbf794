import Foundation
import Synchronization

/// Runs other programs.
enum Shell {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// - Returns: what it printed.
    static func output(_ command: [String], in folder: URL) throws -> String {
        let (status, output) = try run(command, in: folder)
        guard status == 0 else {
            throw Failed(description: "\(command.joined(separator: " ")): \(output.suffix(2000))")
        }
        return output
    }

    /// - Parameters:
    ///   - limit: it is killed after so many seconds.
    ///   - enough: it is killed once a line says this.
    /// - Returns: how it ended, nil where it was killed for its time, and everything that it printed.
    static func run(
        _ command: [String], in folder: URL, environment: [String: String] = [:], limit: Double? = nil,
        enough: String? = nil
    ) throws -> (status: Int32?, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()

        let isLate = Atomic(false)
        let watchman = limit.map { limit in
            let item = DispatchWorkItem {
                isLate.store(true, ordering: .relaxed)
                kill(process.processIdentifier, SIGKILL)
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: item)
            return item
        }
        var output = Data()
        let sign = enough.map { Data($0.utf8) }
        while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
            output.append(piece)
            if let sign, piece.range(of: sign) != nil { kill(process.processIdentifier, SIGKILL) }
        }
        process.waitUntilExit()
        watchman?.cancel()
        let text = String(decoding: output, as: UTF8.self)
        return (isLate.load(ordering: .relaxed) ? nil : process.terminationStatus, text)
    }
}
