import BluetoothCore
import Domain

/// One link through a proxy: how far it is, and the request that waits for its answer.
struct ProxyLink: Sendable {
    let isRandom: Bool
    var phase: Phase
    /// The bearer sends one request at a time.
    var pending: Pending?
    var database = GATTDatabase()

    enum Phase: Sendable {
        case queued(since: MonotonicTime)
        case connecting(since: MonotonicTime)
        case listing(since: MonotonicTime, [ServicesFound.Service], mtu: Int)
        case up
        /// Nobody wants it any more.
        case leaving(since: MonotonicTime)
    }

    enum Pending: Hashable, Sendable {
        case read(UInt32)
        case write(UInt32)
        /// The first step of a subscription, and what its second writes.
        case notify(UInt32, descriptor: UInt32, [UInt8])
        case descriptor(UInt32)

        var handle: UInt32 {
            switch self {
            case .read(let handle), .write(let handle), .notify(let handle, _, _), .descriptor(let handle): handle
            }
        }
    }

    init(isRandom: Bool, phase: Phase) {
        self.isRandom = isRandom
        self.phase = phase
    }

    var isQueued: Bool { if case .queued = phase { true } else { false } }
    var isLeaving: Bool { if case .leaving = phase { true } else { false } }
    var isBeingMade: Bool {
        switch phase {
        case .connecting, .listing: true
        case .queued, .up, .leaving: false
        }
    }

    /// The proxy's requests that stand for a packet.
    mutating func requests(for pdu: ATTPDU, at address: UInt64) -> [APIFrame] {
        switch pdu {
        case .readRequest(let handle):
            pending = .read(UInt32(handle))
            return [ReadRequest.made { $0.target = AttributeTarget(address, UInt32(handle)) }.frame]
        case .writeRequest(let handle, let value):
            if let owner = characteristic(subscribedBy: handle) {
                pending = .notify(UInt32(owner), descriptor: UInt32(handle), value)
                return [NotifyRequest(address, UInt32(owner), isOn: value.contains { $0 != 0 }).frame]
            }
            pending = .write(UInt32(handle))
            return [write(value, to: handle, at: address, wantsResponse: true)]
        case .writeCommand(let handle, let value):
            return [write(value, to: handle, at: address, wantsResponse: false)]
        // The proxy's own stack confirms indications. Nothing else is sent once the services are known.
        default: return []
        }
    }

    private func write(_ value: [UInt8], to handle: UInt16, at address: UInt64, wantsResponse: Bool) -> APIFrame {
        WriteRequest.made {
            $0.target = AttributeTarget(address, UInt32(handle))
            $0.wantsResponse = wantsResponse
            $0.data = value
        }.frame
    }

    private func characteristic(subscribedBy descriptor: UInt16) -> UInt16? {
        for service in database.services {
            for characteristic in service.characteristics where characteristic.subscription == descriptor {
                return characteristic.value
            }
        }
        return nil
    }
}

extension NotifyRequest {
    init(_ address: UInt64, _ handle: UInt32, isOn: Bool) {
        self.init()
        target = AttributeTarget(address, handle)
        self.isOn = isOn
    }
}
