import Domain
import ESPHomeCore

/// A simulated node's end of a connection's framing.
struct SimulatedWire: Sendable {
    enum Event {
        case send([UInt8])
        case message(APIFrame)
        /// Nothing more is read or sent.
        case refuse
    }

    private let node: SimulatedProxy.Options
    private let ephemeral: [UInt8]
    private var splitter: FrameSplitter
    private var phase: Phase

    private enum Phase {
        case plaintext
        case awaitingHello
        case awaitingHandshake
        case sealed(sending: NoiseCipher, receiving: NoiseCipher)
    }

    init(_ node: SimulatedProxy.Options, ephemeral: [UInt8]) {
        self.node = node
        self.ephemeral = ephemeral
        splitter = FrameSplitter(node.key == nil ? .plaintext : .sealed)
        phase = node.key == nil ? .plaintext : .awaitingHello
    }

    mutating func received(_ bytes: [UInt8]) -> [Event] {
        splitter.append(bytes)
        var events: [Event] = []
        do throws(APIFault) {
            while let piece = try splitter.next() {
                switch piece {
                case .message(let frame): events.append(.message(frame))
                case .sealed(let content): events += take(content)
                }
            }
        } catch {
            // A node of the other framing says so in its first byte, and closes.
            events += [
                .send(node.key == nil ? [0] : FrameWriter.sealed([1] + Array("Bad indicator byte".utf8))), .refuse,
            ]
        }
        return events
    }

    mutating func seal(_ frame: APIFrame) -> [UInt8] {
        guard case .sealed(var sending, let receiving) = phase else { return FrameWriter.plaintext(frame) }
        let sealed = sending.seal(FrameWriter.inner(frame)) ?? []
        phase = .sealed(sending: sending, receiving: receiving)
        return FrameWriter.sealed(sealed)
    }

    private mutating func take(_ content: [UInt8]) -> [Event] {
        switch phase {
        case .plaintext: return []
        case .awaitingHello:
            phase = .awaitingHandshake
            let mac = node.mac.description.filter { $0 != ":" }.lowercased()
            return [.send(FrameWriter.sealed([1] + Array(node.name.utf8) + [0] + Array(mac.utf8) + [0]))]
        case .awaitingHandshake:
            if node.faults.contains(.rejects) {
                return [.send(FrameWriter.sealed([1] + Array("Too many connections".utf8))), .refuse]
            }
            var handshake = NoiseHandshake(
                .responder, key: node.key ?? [], prologue: APIWire.prologue, ephemeral: ephemeral)
            guard content.first == 0, handshake.read(Array(content.dropFirst())), let answer = handshake.write() else {
                return [.send(FrameWriter.sealed([1] + Array("Handshake MAC failure".utf8))), .refuse]
            }
            let keys = handshake.split
            phase = .sealed(sending: keys.sending, receiving: keys.receiving)
            return [.send(FrameWriter.sealed([0] + answer))]
        case .sealed(let sending, var receiving):
            guard let plain = receiving.open(content), let frame = FrameWriter.message(plain) else { return [.refuse] }
            phase = .sealed(sending: sending, receiving: receiving)
            return [.message(frame)]
        }
    }
}
