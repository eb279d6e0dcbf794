package import LinuxIO

extension FileDescriptor {
    /// Writes as many bytes as a single write accepts, and returns their number.
    @discardableResult
    package func write(all bytes: [UInt8]) throws -> Int? {
        try bytes.withUnsafeBytes { try write($0) }
    }
}
