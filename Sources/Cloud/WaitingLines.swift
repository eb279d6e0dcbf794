import MeterModel
import Synchronization

/// The waiting lines of all meters that somebody waits for.
final class WaitingLines: Sendable {
    struct Meter: Hashable, Sendable {
        var zone: String
        var id: String
    }

    private let lines = Mutex<[Meter: WaitingLine]>([:])

    /// Those that somebody waits for.
    var meters: [Meter] { lines.withLock { Array($0.keys) } }

    func names(_ meter: Meter) -> [String] { lines.withLock { $0[meter]?.names ?? [] } }

    func reserved(_ meter: Meter, at now: MonotonicTime) -> HostID? {
        lines.withLock { $0[meter]?.reserved(at: now) }
    }

    /// Changes one line in one step. An empty one is kept nowhere.
    func change<Value: Sendable>(_ meter: Meter, _ body: (inout WaitingLine) -> Value) -> Value {
        lines.withLock { lines in
            var line = lines[meter] ?? WaitingLine()
            let value = body(&line)
            lines[meter] = line.isEmpty ? nil : line
            return value
        }
    }
}
