package import LinuxIO

extension FileDescriptor {
    /// Writes what fits at once, and says how much that was.
    @discardableResult
    package func write(all bytes: [UInt8]) throws -> Int? {
        try bytes.withUnsafeBytes { try write($0) }
    }
}
