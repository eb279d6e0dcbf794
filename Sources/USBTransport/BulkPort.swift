import Domain
import LinuxIO

/// Two bulk endpoints of a device, with one transfer at a time in each direction. Use only on the loop.
protocol BulkPort: Sendable {
    /// Descriptor that is writable while a completed transfer waits for `take`, and hung up after the device is
    /// removed.
    var descriptor: FileDescriptor { get }
    func receive() throws(Errno)
    /// Sends at most `BulkNode.capacity` octets.
    func send(_ bytes: UnsafeRawBufferPointer) throws(Errno)
    func take() throws(Errno) -> BulkEvent?
    func clearHalt(isInput: Bool) throws(Errno)
    /// Cancels transfers and releases the device. Does not wait for the device.
    func close()
}

enum BulkEvent: Hashable, Sendable {
    /// Received bytes. May be empty, because a device ends a message of full packets with an empty packet.
    case received([UInt8])
    case sent
    case failed(isInput: Bool, Errno)
}

final class BulkNode: BulkPort, @unchecked Sendable {
    // Unchecked: created on the thread that opens it, then used only on the loop.

    /// Size of a transfer in octets. It is a multiple of the packet size at every speed (64, 512 and 1,024 octets). It
    /// exceeds every answer of a KM003C, which sends its logs in pieces of at most 2,544 octets
    /// (Docs/Protocols/KM003C.md#where-a-message-ends).
    static let capacity = 4096

    private let node: USBNode
    private let interface: BulkInterface
    private let input: USBTransfer
    private let output: USBTransfer

    init(_ node: USBNode, _ interface: BulkInterface) throws(Errno) {
        self.node = node
        self.interface = interface
        input = try USBTransfer(node, endpoint: interface.input, capacity: Self.capacity)
        output = try USBTransfer(node, endpoint: interface.output, capacity: Self.capacity)
    }

    var descriptor: FileDescriptor { node.descriptor }

    func receive() throws(Errno) { try input.receive() }

    func send(_ bytes: UnsafeRawBufferPointer) throws(Errno) { try output.send(bytes) }

    func take() throws(Errno) -> BulkEvent? {
        guard let done = try node.reap() else { return nil }
        let isInput = done.isOf(input)
        if let failure = done.failure { return .failed(isInput: isInput, failure) }
        return isInput ? .received(done.bytes) : .sent
    }

    func clearHalt(isInput: Bool) throws(Errno) {
        try node.clearHalt(at: isInput ? interface.input : interface.output)
    }

    func close() { node.descriptor.closeElsewhere() }
}
