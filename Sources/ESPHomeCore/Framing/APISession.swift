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

    private let node: NodeSettings
    private let timing: NodeTiming
    private var framing: APIFraming
    /// Nil in plain text.
    private var handshake: NoiseHandshake?
    /// Whether the node has said of itself what it says before it is trusted.
    private var hasClaimed = false
    private var lastReceived: MonotonicTime
    private var lastPing: MonotonicTime
    /// Nil once the node has told about itself.
    private var greetingSince: MonotonicTime?

    /// The API version that we implement: the first with short UUIDs is 1.12.
    private static let version: (major: UInt32, minor: UInt32) = (1, 14)

    /// The connection is up.
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

    /// Takes bytes, which may be any at all.
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

    /// The bytes of a message. Empty before messages can be sent.
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

    /// The first words, once messages can be sent.
    private var greeting: [Event] {
        let hello = HelloRequest.made {
            ($0.client, $0.major, $0.minor) = ("meterd", Self.version.major, Self.version.minor)
        }
        return [.send(hello.frame), .send(AuthenticationRequest.made { _ in }.frame)]
    }

    /// Takes one of the node's two messages of the handshake.
    private mutating func shake(_ content: [UInt8]) throws(APIFault) -> [Event] {
        guard hasClaimed else {
            guard content.first == 1 else { throw .malformed("it chose protocol \(content.first ?? 0)") }
            hasClaimed = true
            // Old firmware says nothing.
            let texts = content.dropFirst().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0.prefix(64), as: UTF8.self) }
            try node.check(name: texts[0], mac: texts.count > 1 ? texts[1] : "")
            return []
        }
        guard content.first == 0 else {
            // The node's text: this is what esphome's `api_frame_helper_noise.cpp` says of a wrong key.
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
