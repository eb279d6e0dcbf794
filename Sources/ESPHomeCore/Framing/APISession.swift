import Domain

/// One connection to an ESPHome node. Reads no clock; each method handles one event.
struct APISession: Sendable {
    enum Event {
        case bytes([UInt8])
        case send(APIFrame)
        case told(ProtoMessage<DeviceInfoResponse>)
        case message(APIFrame)
        /// The node ended the connection. Last event.
        case ended(APIFault)
    }

    private let node: NodeSettings
    private let timing: NodeTiming
    private var framing: APIFraming
    private var handshake: NoiseHandshake?
    /// Whether the node has sent its name and address, before the handshake proves them.
    private var hasClaimed = false
    private var lastReceived: MonotonicTime
    private var lastPing: MonotonicTime
    /// Start of the connection; nil once the node has described itself.
    private var greetingSince: MonotonicTime?

    /// API version that this client implements. 1.12 is the first with short UUIDs.
    private static let version: (major: UInt32, minor: UInt32) = (1, 14)

    init(_ node: NodeSettings, _ timing: NodeTiming, _ security: APISecurity, at now: MonotonicTime) {
        (self.node, self.timing) = (node, timing)
        (lastReceived, lastPing, greetingSince) = (now, now, now)
        switch security {
        case .plaintext: framing = APIFraming(.plaintext)
        case .key(let key, let ephemeral):
            framing = APIFraming(.sealed)
            handshake = NoiseHandshake(.initiator, key: key, prologue: APIFraming.prologue, ephemeral: ephemeral)
        }
    }

    mutating func begin() throws(APIFault) -> [Event] {
        guard handshake != nil else { return greeting }
        guard let message = handshake?.write() else { throw .wrongKey }
        return [.bytes(FrameWriter.sealed([]) + FrameWriter.sealed([0] + message))]
    }

    mutating func received(_ bytes: [UInt8], at now: MonotonicTime) throws(APIFault) -> [Event] {
        lastReceived = now
        framing.append(bytes)
        var events: [Event] = []
        while let piece = try framing.next() {
            switch piece {
            case .handshake(let content): events += try shake(content)
            case .message(let frame): events += try take(frame)
            }
            if case .ended? = events.last { break }
        }
        return events
    }

    mutating func seal(_ frame: APIFrame) -> [UInt8] { framing.bytes(of: frame) }

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

    private var greeting: [Event] {
        let hello = HelloRequest.made {
            ($0.client, $0.major, $0.minor) = ("meterd", Self.version.major, Self.version.minor)
        }
        return [.send(hello.frame), .send(AuthenticationRequest.made { _ in }.frame)]
    }

    private mutating func shake(_ content: [UInt8]) throws(APIFault) -> [Event] {
        guard hasClaimed else {
            guard content.first == 1 else { throw .malformed("it chose protocol \(content.first ?? 0)") }
            hasClaimed = true
            // Old firmware may send neither name nor address.
            let texts = content.dropFirst().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0.prefix(64), as: UTF8.self) }
            try node.check(name: texts[0], mac: texts.count > 1 ? texts[1] : "")
            return []
        }
        guard content.first == 0 else {
            // For a wrong key, esphome's `api_frame_helper_noise.cpp` sends "Handshake MAC failure".
            let reason = String(decoding: content.dropFirst().prefix(200), as: UTF8.self)
            throw reason == "Handshake MAC failure" ? .wrongKey : .refused(reason)
        }
        guard handshake?.read(Array(content.dropFirst())) == true, let handshake else { throw .wrongKey }
        framing.begin(handshake)
        return greeting
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
