import Domain
import ESPHomeCore

struct SimulatedWire: Sendable {
    enum Event {
        case send([UInt8])
        case message(APIFrame)
        case refuse
    }

    private let node: SimulatedProxy.Options
    private let ephemeral: [UInt8]
    private var framing: APIFraming
    private var hasGreeted = false

    init(_ node: SimulatedProxy.Options, ephemeral: [UInt8]) {
        self.node = node
        self.ephemeral = ephemeral
        framing = APIFraming(node.key == nil ? .plaintext : .sealed)
    }

    mutating func received(_ bytes: [UInt8]) -> [Event] {
        framing.append(bytes)
        var events: [Event] = []
        do throws(APIFault) {
            while let piece = try framing.next() {
                switch piece {
                case .message(let frame): events.append(.message(frame))
                case .handshake(let content): events += shake(content)
                }
            }
            return events
        } catch .damaged {
            return events + [.refuse]
        } catch {
            // The client uses the other framing. Answer in this node's own framing, whose first byte shows the mistake,
            // then close.
            return events + (node.key == nil ? [.send([0]), .refuse] : refusal("Bad indicator byte"))
        }
    }

    mutating func seal(_ frame: APIFrame) -> [UInt8] { framing.bytes(of: frame) }

    private func refusal(_ reason: String) -> [Event] {
        [.send(FrameWriter.sealed([1] + Array(reason.utf8))), .refuse]
    }

    private mutating func shake(_ content: [UInt8]) -> [Event] {
        guard hasGreeted else {
            hasGreeted = true
            let mac = node.mac.description.filter { $0 != ":" }.lowercased()
            return [.send(FrameWriter.sealed([1] + Array(node.name.utf8) + [0] + Array(mac.utf8) + [0]))]
        }
        if node.faults.contains(.rejects) { return refusal("Too many connections") }
        var handshake = NoiseHandshake(
            .responder, key: node.key ?? [], prologue: APIFraming.prologue, ephemeral: ephemeral)
        guard content.first == 0, handshake.read(Array(content.dropFirst())), let answer = handshake.write() else {
            return refusal("Handshake MAC failure")
        }
        framing.begin(handshake)
        return [.send(FrameWriter.sealed([0] + answer))]
    }
}
