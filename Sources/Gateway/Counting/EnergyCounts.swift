package import Domain
import GatewayAPI
import Synchronization

/// Energy and charge of the meters, over restarts.
///
/// What was counted is written in the same batch as the readings that it comes from, so that both say the same after a power
/// cut, and that a memory card sees no write more.
package final class EnergyCounts: Sendable {
    private struct State {
        var tracks: [MeterID: EnergyTrack] = [:]
        /// What was counted of meters without a session.
        var stored: [MeterID: EnergyCount] = [:]
    }

    private let state = Mutex(State())
    private let repository: any EnergyCountRepository

    package init(repository: any EnergyCountRepository) { self.repository = repository }

    /// Takes up what was counted before a restart. To be called once, before any meter is taken up.
    ///
    /// - Parameter former: what meters of this host were called before, and what they are called now.
    package func restore(former: [MeterID: MeterID] = [:]) async throws {
        let counts = try await repository.energyCounts()
        var stored: [MeterID: EnergyCount] = [:]
        for (id, count) in counts {
            let meter = former[id] ?? id
            // What was counted under the present id goes on. Of several former ones nobody knows which was written last:
            // the greater count loses nothing.
            guard meter == id || counts[meter] == nil, stored[meter].map({ $0.isLess(than: count) }) ?? true else {
                continue
            }
            stored[meter] = count
        }
        for (id, meter) in former where counts[id] != nil {
            guard let sum = stored[meter] else { continue }
            try await repository.keepEnergyCount(sum, of: meter)
            try await repository.keepEnergyCount(nil, of: id)
        }
        let found = stored
        state.withLock { $0.stored = found }
    }

    /// Where one meter's readings are counted, until `leave`.
    package func track(for meter: MeterID) -> EnergyTrack {
        state.withLock { state in
            if let track = state.tracks[meter] { return track }
            let track = EnergyTrack(state.stored.removeValue(forKey: meter) ?? EnergyCount())
            state.tracks[meter] = track
            return track
        }
    }

    /// The meter's session is over.
    func leave(_ meter: MeterID) {
        state.withLock { state in
            guard let count = state.tracks.removeValue(forKey: meter)?.count else { return }
            state.stored[meter] = count
        }
    }

    /// What is to be written with the next batch of readings.
    func changes() -> [MeterID: EnergyCount] {
        state.withLock { $0.tracks.compactMapValues { $0.takeChanged() } }
    }

    /// They were written.
    func wereWritten(_ changes: [MeterID: EnergyCount]) {
        state.withLock { state in
            for (meter, count) in changes { state.tracks[meter]?.wasWritten(count) }
        }
    }

    /// The sums of the meters with a session as the store has them, as quantities of a reading.
    var written: [MeterID: Reading] {
        state.withLock { state in
            state.tracks.compactMapValues { track in
                guard let count = track.written else { return nil }
                var sums = Reading()
                count.put(into: &sums)
                return sums
            }
        }
    }

    /// They could not be written.
    func putBack(_ changes: [MeterID: EnergyCount]) {
        state.withLock { state in
            for meter in changes.keys { state.tracks[meter]?.wasNotWritten() }
        }
    }

    // MARK: What people ask for

    /// Begins anew from zero.
    func reset(_ meter: MeterID, at wall: WallTime) async throws(GatewayError) {
        let track = track(for: meter)
        track.reset(at: wall)
        do {
            let count = track.count
            try await repository.keepEnergyCount(count, of: meter)
            track.wasWritten(count)
        } catch {
            track.wasNotWritten()
            throw GatewayError(error, doing: "it counts from zero, and would not after a restart")
        }
    }

    /// The meter is forgotten, and with it what was counted.
    func forget(_ meter: MeterID) async throws {
        state.withLock { state in
            state.tracks[meter] = nil
            state.stored[meter] = nil
        }
        try await repository.keepEnergyCount(nil, of: meter)
    }

    /// The meter turned out to be another one's second id.
    func move(_ meter: MeterID, to other: MeterID) async throws {
        let count = state.withLock { state in
            state.tracks.removeValue(forKey: meter)?.count ?? state.stored.removeValue(forKey: meter)
        }
        guard let count else { return }
        let track = track(for: other)
        track.takeUp(count)
        let taken = track.takeChanged()
        do {
            if let taken {
                try await repository.keepEnergyCount(taken, of: other)
                track.wasWritten(taken)
            }
            try await repository.keepEnergyCount(nil, of: meter)
        } catch {
            track.wasNotWritten()
            throw error
        }
    }
}
