import LinuxIO

final class ReadBuffer {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    deinit { bytes.deallocate() }

    /// Reads the available bytes. Returns nil if there are none, or at the end of the input.
    func read(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
        let found = try readUntilEnd(descriptor)
        return found?.isEmpty == true ? nil : found
    }

    /// Reads the available bytes. Returns nil if there are none, and an empty array at the end of the input.
    func readUntilEnd(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8]? {
        guard let count = try descriptor.read(into: bytes) else { return nil }
        return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
}
