package import LinuxIO

extension FileDescriptor {
    /// Writes what fits at once, and returns how many bytes that were.
    @discardableResult
    package func write(all bytes: [UInt8]) throws -> Int? {
        try bytes.withUnsafeBytes { try write($0) }
    }
}
