import BluetoothCore
import Domain

struct ProxyLink: Sendable {
    enum Phase: Sendable {
        case queued, connecting, listing, up
        case leaving
    }

    /// Unanswered request; at most one at a time.
    struct Pending: Sendable {
        var kind: AttributeMessage.Kind
        var handle: UInt32
        /// Descriptor, and the value to write to it after the proxy's answer to `notify`; nil for other requests.
        var subscription: (descriptor: UInt32, value: [UInt8])?
    }

    let address: UInt64
    let isRandom: Bool
    private(set) var phase: Phase
    private(set) var since: MonotonicTime
    var mtu = ATTPDU.defaultMTU
    var database = GATTDatabase()
    var pending: Pending?

    init(_ address: UInt64, isRandom: Bool = false, _ phase: Phase, at now: MonotonicTime) {
        (self.address, self.isRandom, self.phase, since) = (address, isRandom, phase, now)
    }

    mutating func enter(_ phase: Phase, at now: MonotonicTime) { (self.phase, since) = (phase, now) }

    var isBeingMade: Bool { phase == .connecting || phase == .listing }

    mutating func request(for pdu: ATTPDU) -> APIFrame? {
        switch pdu {
        case .readRequest(let handle):
            pending = Pending(kind: .read, handle: UInt32(handle))
            return AttributeMessage.frame(.read, address, UInt32(handle))
        case .writeRequest(let handle, let value):
            guard let owner = characteristic(subscribedBy: handle) else {
                pending = Pending(kind: .write, handle: UInt32(handle))
                return write(value, to: handle, wantsResponse: true)
            }
            let subscription = (UInt32(handle), value)
            pending = Pending(kind: .notify, handle: UInt32(owner), subscription: subscription)
            return notify(owner, isOn: value.contains { $0 != 0 })
        case .writeCommand(let handle, let value): return write(value, to: handle, wantsResponse: false)
        // Nothing to send: the proxy confirms indications, and the client sends no other PDU once the services are
        // known.
        default: return nil
        }
    }

    func notify(_ handle: UInt16, isOn: Bool) -> APIFrame {
        AttributeMessage.frame(.notify, address, UInt32(handle)) { $0.isOn = isOn }
    }

    private func write(_ value: [UInt8], to handle: UInt16, wantsResponse: Bool) -> APIFrame {
        AttributeMessage.frame(.write, address, UInt32(handle)) {
            ($0.wantsResponse, $0.written) = (wantsResponse, value)
        }
    }

    private func characteristic(subscribedBy descriptor: UInt16) -> UInt16? {
        database.services.lazy.flatMap(\.characteristics).first { $0.subscription == descriptor }?.value
    }

    /// Handles the proxy's answers; ignores those to writes without a response.
    ///
    /// - Returns: the packet for the link's owner, or the next frame to send.
    mutating func answered(
        _ kind: AttributeMessage.Kind, _ message: ProtoMessage<AttributeMessage>
    ) -> (packet: ATTPDU?, next: APIFrame?) {
        guard let pending, pending.handle == message.handle else { return (nil, nil) }
        switch (pending.kind, kind) {
        case (.notify, .notifyDone):
            guard let (descriptor, value) = pending.subscription else { return (nil, nil) }
            self.pending = Pending(kind: .writeDescriptor, handle: descriptor)
            return (nil, AttributeMessage.frame(.writeDescriptor, address, descriptor) { $0.data = value })
        case (.read, .readDone):
            self.pending = nil
            return (.readResponse(message.data), nil)
        case (.write, .writeDone), (.writeDescriptor, .writeDone):
            self.pending = nil
            return (.writeResponse, nil)
        case (_, .failed):
            self.pending = nil
            // Report a congested write as done, because an error would end the link. The session repeats unanswered
            // requests.
            if pending.kind == .write, message.error == AttributeMessage.congested { return (.writeResponse, nil) }
            let opcode = pending.kind == .read ? ATTOpcode.readRequest : .writeRequest
            let code = ATTErrorCode(rawValue: UInt8(clamping: message.error))
            return (
                .errorResponse(to: opcode.rawValue, handle: UInt16(clamping: message.handle), error: code), nil
            )
        default: return (nil, nil)
        }
    }
}
