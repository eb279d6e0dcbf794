import Foundation

/// The openssl command, for checks independent of this project's code.
package enum OpenSSLProgram {
    /// Path of the openssl command; nil if not installed.
    package static let path = ["/usr/bin/openssl"].first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs openssl and returns its standard output.
    ///
    /// - Throws: if the command cannot be started, or fails.
    @discardableResult
    package static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path ?? "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return String(decoding: bytes, as: UTF8.self)
    }

    package struct Failure: Error, CustomStringConvertible {
        package var status: Int32
        package var description: String { "openssl ended with \(status)" }
    }
}
