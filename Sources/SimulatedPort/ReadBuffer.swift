import LinuxIO

/// A buffer that is read into again and again.
final class ReadBuffer {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    deinit { bytes.deallocate() }

    /// - Returns: nil where nothing is there.
    func read(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
        guard let count = try descriptor.read(into: bytes), count > 0 else { return nil }
        return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
}
