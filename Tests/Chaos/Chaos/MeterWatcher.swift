import Domain
import Gateway
import LinuxIO
import SimulatedCloud

/// Somebody at a host who looks at one meter of the zone after the other, whoever has it.
///
/// Each reading's voltage tells under which token it was measured (`mark`). What is shown under another one, or under an
/// older one than before, no fault explains.
struct MeterWatcher: Sendable {
    let watcher: RelayWatcher
    let journal: Journal
    let zone: String
    let generations: Generations
    let name: String

    /// Small, so that the mean of many is exact.
    static func mark(_ token: FencingToken) -> Double { Double(token.rawValue % (1 << 20)) }

    /// Until its task is cancelled.
    func run(_ rng: SimulationRNG) async {
        var rng = rng
        while !Task.isCancelled {
            guard let meter = rng.pick(generations.meters(of: zone, at: LinuxClock.now)) else { continue }
            let readings = await watcher.watch(meter, wantsAll: false)
            let time = rng.milliseconds(2000...12_000)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await look(at: readings, of: meter) }
                group.addTask { try? await Task.sleep(for: time) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func look(at readings: Feed<WatchedReading>.Subscription, of meter: MeterID) async {
        var (seen, handovers) = (0, 0)
        var newest: FencingToken?
        for await item in readings {
            guard let token = item.value.origin?.token else { continue }
            if let newest, token < newest {
                journal.surprise("\(name) shows \(meter) under \(token.rawValue) after \(newest.rawValue)")
            }
            if item.value.reading[.voltage] != Self.mark(token) {
                journal.surprise("\(name) shows \(meter) under \(token.rawValue), measured under another token")
            }
            if let newest, token > newest { handovers += 1 }
            newest = token
            seen += 1
        }
        journal.watched(readings: seen, handovers: handovers)
    }
}
