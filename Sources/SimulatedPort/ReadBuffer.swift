import LinuxIO

final class ReadBuffer {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    deinit { bytes.deallocate() }

    /// Returns nil if no bytes are available, or at the end.
    func read(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
        let found = try readUntilEnd(descriptor)
        return found?.isEmpty == true ? nil : found
    }

    /// Returns nil if no bytes are available, an empty array at the end.
    func readUntilEnd(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
        guard let count = try descriptor.read(into: bytes) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
}
