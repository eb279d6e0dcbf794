package import LinuxIO

extension FileDescriptor {
    /// Writes as many bytes as a single write accepts.
    ///
    /// - Returns: number of written bytes; nil if the file accepts none yet.
    @discardableResult
    package func write(all bytes: [UInt8]) throws -> Int? {
        try bytes.withUnsafeBytes { try write($0) }
    }
}
