import Domain

/// One connection to a node, whatever it is for: the framing, the first words, and what keeps it alive. A value without a
/// clock; each method names something that happened.
struct APISession: Sendable {
    enum Event {
        /// Send these bytes. They come before all frames.
        case bytes([UInt8])
        /// Seal this and send it.
        case send(APIFrame)
        /// The node has told about itself, and is the one that is meant.
        case told(ProtoMessage<DeviceInfoResponse>)
        case message(APIFrame)
        /// The node has ended it. The last event.
        case ended(APIFault)
    }

    private let node: ProxyNode
    private let timing: ProxyTiming
    private var wire: APIWire
    private var lastReceived: MonotonicTime
    private var lastPing: MonotonicTime
    /// Nil once the node has told about itself.
    private var greetingSince: MonotonicTime?

    /// The API version that we implement: the first with short UUIDs is 1.12.
    private static let version: (major: UInt32, minor: UInt32) = (1, 14)

    /// The connection is up.
    ///
    /// - Parameter ephemeral: 32 random bytes, for this connection alone.
    init(
        _ node: ProxyNode, _ timing: ProxyTiming, _ security: APIWire.Security, ephemeral: [UInt8],
        at now: MonotonicTime
    ) {
        (self.node, self.timing) = (node, timing)
        wire = APIWire(security, ephemeral: ephemeral)
        (lastReceived, lastPing, greetingSince) = (now, now, now)
    }

    mutating func begin() throws(APIFault) -> [Event] { try handle(wire.opened()) }

    /// Takes bytes, which may be any at all.
    mutating func received(_ bytes: [UInt8], at now: MonotonicTime) throws(APIFault) -> [Event] {
        lastReceived = now
        return try handle(wire.received(bytes))
    }

    mutating func seal(_ frame: APIFrame) -> [UInt8] { wire.seal(frame) }

    mutating func woke(at now: MonotonicTime) throws(APIFault) -> [Event] {
        if let greetingSince, now >= greetingSince + timing.greeting {
            throw .ended("did not tell about itself within \(timing.greeting.shortText)")
        }
        if now >= lastReceived + timing.deadAfter {
            throw .ended("has not answered for \(timing.deadAfter.shortText)")
        }
        guard now >= pingTime else { return [] }
        lastPing = now
        return [.send(EmptyMessage.pingRequest)]
    }

    var nextWake: MonotonicTime {
        [pingTime, lastReceived + timing.deadAfter, greetingSince.map { $0 + timing.greeting }].compactMap { $0 }
            .reduce(pingTime, min)
    }

    private var pingTime: MonotonicTime { max(lastReceived, lastPing) + timing.pingAfter }

    private mutating func handle(_ all: [APIWire.Event]) throws(APIFault) -> [Event] {
        var events: [Event] = []
        for event in all {
            switch event {
            case .send(let bytes): events.append(.bytes(bytes))
            case .claims(let name, let mac): try node.check(name: name, mac: mac)
            case .ready:
                let hello = HelloRequest.made {
                    $0.client = "meterd"
                    ($0.major, $0.minor) = (Self.version.major, Self.version.minor)
                }
                events += [.send(hello.frame), .send(AuthenticationRequest.made { _ in }.frame)]
            case .message(let frame):
                events += try take(frame)
                if case .ended? = events.last { return events }
            }
        }
        return events
    }

    private mutating func take(_ frame: APIFrame) throws(APIFault) -> [Event] {
        switch frame.id {
        case EmptyMessage.pingRequest.id: return [.send(EmptyMessage.pingResponse)]
        case EmptyMessage.disconnectRequest.id:
            return [.send(EmptyMessage.disconnectResponse), .ended(.ended("ended the connection"))]
        case HelloResponse.id:
            let message = try frame.read(HelloResponse.self)
            guard greetingSince != nil else { return [] }
            guard message.major <= 2 else {
                throw .unsuitable(
                    "\(node.display) speaks version \(message.major) of ESPHome's native API, and meterd knows 1 and 2. Update"
                        + " meterd.")
            }
            try node.check(name: message.name, mac: "")
            return [.send(EmptyMessage.deviceInfoRequest)]
        case AuthenticationResponse.id:
            guard try frame.read(AuthenticationResponse.self).isRefused else { return [] }
            throw .unsuitable(
                "\(node.display) wants a password, which ESPHome has given up. Replace password: under api: in its"
                    + " configuration by encryption: with a key.")
        case DeviceInfoResponse.id:
            let message = try frame.read(DeviceInfoResponse.self)
            guard greetingSince != nil else { return [] }
            try node.check(name: message.name, mac: message.mac)
            greetingSince = nil
            return [.told(message)]
        default: return [.message(frame)]
        }
    }
}

extension APIFrame {
    func read<Message: APIMessage>(_: Message.Type) throws(APIFault) -> ProtoMessage<Message> {
        guard let message = Message.read(self) else { throw .malformed("message \(id) cannot be read") }
        return message
    }
}
