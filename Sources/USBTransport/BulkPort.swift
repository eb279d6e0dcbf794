import Domain
import LinuxIO

/// Two bulk endpoints of a device, with one USB transfer at a time in each direction. Use only on the loop.
protocol BulkPort: Sendable {
    /// Descriptor that is writable while `take` has a completed USB transfer to return, and hung up once the device is
    /// removed.
    var descriptor: FileDescriptor { get }
    func receive() throws(Errno)
    /// Sends at most `BulkNode.capacity` octets.
    func send(_ bytes: UnsafeRawBufferPointer) throws(Errno)
    func take() throws(Errno) -> BulkEvent?
    func clearHalt(isInput: Bool) throws(Errno)
    /// Cancels the USB transfers and releases the device. Does not wait for the device.
    func close()
}

enum BulkEvent: Hashable, Sendable {
    /// Received bytes; empty if the device ended a message of full packets with an empty packet.
    case received([UInt8])
    case sent
    case failed(isInput: Bool, Errno)
}

final class BulkNode: BulkPort, @unchecked Sendable {
    // Unchecked: created on the thread that opens it, then used only on the loop.

    /// Octets of a USB transfer, a multiple of the packet size at every speed (64, 512 and 1,024 octets). A KM003C's
    /// logs have parts of at most 2,544 octets (Docs/Protocols/KM003C.md#where-a-message-ends).
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
