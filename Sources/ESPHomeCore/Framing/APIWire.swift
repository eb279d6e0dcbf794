/// The host's end of a connection's framing, from the first byte on: plain text, or the handshake and what is sealed after
/// it. A value: bytes in, messages and bytes to send out.
package struct APIWire: Sendable {
    /// How the connection is protected.
    package enum Security: Hashable, Sendable {
        /// Anybody on the network may read and change what is said.
        case plaintext
        /// - Parameter key: 32 bytes, not all of them zero.
        case key([UInt8])
    }

    package enum Event: Hashable, Sendable {
        /// Send this at once.
        case send([UInt8])
        /// Messages can be sent from now on.
        case ready
        /// What the node says of itself before it is trusted; old firmware says nothing.
        case claims(name: String, mac: String)
        case message(APIFrame)
    }

    /// What both ends of a handshake begin with: the empty first frame is part of it.
    package static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]

    private var splitter: FrameSplitter
    private var phase: Phase

    private enum Phase: Sendable {
        case plaintext
        case awaitingHello(NoiseHandshake)
        case awaitingHandshake(NoiseHandshake)
        case sealed(sending: NoiseCipher, receiving: NoiseCipher)
    }

    /// - Parameter ephemeral: 32 random bytes of which nobody else knows.
    package init(_ security: Security, ephemeral: [UInt8]) {
        switch security {
        case .plaintext:
            splitter = FrameSplitter(.plaintext)
            phase = .plaintext
        case .key(let key):
            splitter = FrameSplitter(.sealed)
            phase = .awaitingHello(
                NoiseHandshake(.initiator, key: key, prologue: Self.prologue, ephemeral: ephemeral))
        }
    }

    /// The connection is up.
    package mutating func opened() throws(APIFault) -> [Event] {
        guard case .awaitingHello(var handshake) = phase else { return [.ready] }
        guard let message = handshake.write() else { throw .wrongKey }
        phase = .awaitingHello(handshake)
        return [.send(FrameWriter.sealed([]) + FrameWriter.sealed([0] + message))]
    }

    /// Takes bytes, which may be any at all.
    package mutating func received(_ bytes: [UInt8]) throws(APIFault) -> [Event] {
        splitter.append(bytes)
        var events: [Event] = []
        while let piece = try splitter.next() {
            switch piece {
            case .message(let frame): events.append(.message(frame))
            case .sealed(let content): events += try take(content)
            }
        }
        return events
    }

    /// The bytes of a message. Empty before `ready`.
    package mutating func seal(_ frame: APIFrame) -> [UInt8] {
        switch phase {
        case .plaintext: return FrameWriter.plaintext(frame)
        case .awaitingHello, .awaitingHandshake: return []
        case .sealed(var sending, let receiving):
            let sealed = sending.seal(FrameWriter.inner(frame)) ?? []
            phase = .sealed(sending: sending, receiving: receiving)
            return FrameWriter.sealed(sealed)
        }
    }

    private mutating func take(_ content: [UInt8]) throws(APIFault) -> [Event] {
        switch phase {
        case .plaintext: return []
        case .awaitingHello(let handshake):
            guard content.first == 1 else { throw .malformed("it chose protocol \(content.first ?? 0)") }
            phase = .awaitingHandshake(handshake)
            let texts = content.dropFirst().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0.prefix(64), as: UTF8.self) }
            return [.claims(name: texts[0], mac: texts.count > 1 ? texts[1] : "")]
        case .awaitingHandshake(var handshake):
            guard content.first == 0 else { throw Self.refusal(content.dropFirst()) }
            guard handshake.read(Array(content.dropFirst())) else { throw .wrongKey }
            let keys = handshake.split
            phase = .sealed(sending: keys.sending, receiving: keys.receiving)
            return [.ready]
        case .sealed(let sending, var receiving):
            guard let plain = receiving.open(content) else { throw .damaged }
            phase = .sealed(sending: sending, receiving: receiving)
            guard let frame = FrameWriter.message(plain) else {
                throw .malformed("a sealed message of \(plain.count) bytes")
            }
            return [.message(frame)]
        }
    }

    /// The node's text. The first is what esphome's `api_frame_helper_noise.cpp` says of a wrong key.
    private static func refusal(_ text: ArraySlice<UInt8>) -> APIFault {
        let reason = String(decoding: text.prefix(200), as: UTF8.self)
        return reason == "Handshake MAC failure" ? .wrongKey : .refused(reason)
    }
}
