import BluetoothCore
import MeterModel

/// Repeatable random numbers, so that a failing seed replays.
struct SeededRNG {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// 0 to `limit` - 1.
    mutating func below(_ limit: Int) -> Int { Int(next() >> 16) % max(1, limit) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) } }
}

extension MonotonicTime {
    static func seconds(_ seconds: Int) -> Self { Self(sinceOrigin: .seconds(seconds)) }
}

/// One line of a conversation.
enum Line: Equatable, CustomStringConvertible {
    /// The client sent these bytes.
    case sent(String)
    /// These bytes came in.
    case received(String)

    var description: String {
        switch self {
        case .sent(let hex): "> \(hex)"
        case .received(let hex): "< \(hex)"
        }
    }
}
