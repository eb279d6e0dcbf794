import MeterCodec
import MeterModel

/// The USB PD conversation between a charger and a phone at the two ends of a KM003C: the plug goes in a moment after
/// the meter was switched on, they agree on 5 V, and nothing further happens
/// (Docs/Protocols/KM003C.md#usb-power-delivery).
struct SimulatedKM003CPower: Sendable {
    /// Most bytes of waiting events, which are kept oldest first; a real meter keeps about as much.
    private static let longest = 200

    private var waiting: [[UInt8]] = []
    private var told = 0

    /// The events, each with its time in milliseconds.
    private static let script: [(milliseconds: Int, event: [UInt8])] = {
        let offers = [0x0801_912C, 0x0002_D12C, 0x0003_C12C, 0x0004_B104, 0xC0DC_213C] as [UInt32]
        return [
            (500, plug(0x21, at: 500)),
            (700, message(.init(type: 1, id: 1, objectCount: offers.count, isSource: true), offers, at: 700)),
            (701, message(.init(type: 1, id: 1, objectCount: 0, isSource: false), [], at: 701)),
            (705, message(.init(type: 2, id: 0, objectCount: 1, isSource: false), [0x1304_B12C], at: 705)),
            (706, message(.init(type: 1, id: 0, objectCount: 0, isSource: true), [], at: 706)),
            (710, message(.init(type: 3, id: 2, objectCount: 0, isSource: true), [], at: 710)),
            (711, message(.init(type: 1, id: 2, objectCount: 0, isSource: false), [], at: 711)),
            (740, message(.init(type: 6, id: 3, objectCount: 0, isSource: true), [], at: 740)),
            (741, message(.init(type: 1, id: 3, objectCount: 0, isSource: false), [], at: 741)),
        ]
    }()

    mutating func advance(to time: Duration) {
        while told < Self.script.count, Self.script[told].milliseconds <= Int(clamping: time.milliseconds) {
            waiting.append(Self.script[told].event)
            told += 1
        }
        while waiting.reduce(0, { $0 + $1.count }) > Self.longest { waiting.removeFirst() }
    }

    /// Takes the waiting events.
    mutating func take() -> [UInt8] {
        defer { waiting = [] }
        return waiting.flatMap { $0 }
    }

    /// What the meter's own machine went through so far: two lists, each of one state and its second.
    var trace: [UInt8] { told == 0 ? [0, 0] : [5, 0x02, 0, 0, 0, 0, 5, 0x76, 0, 0, 0, 0] }

    private static func plug(_ code: UInt8, at milliseconds: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(milliseconds & 0xFF_FFFF)
        return [0x45] + bytes + [code]
    }

    private static func message(_ header: PDHeader, _ objects: [UInt32], at milliseconds: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(milliseconds)
        bytes.append(0)
        bytes.appendLE(header.word)
        for object in objects { bytes.appendLE(object) }
        return [0x80 | UInt8(clamping: bytes.count)] + bytes
    }
}
