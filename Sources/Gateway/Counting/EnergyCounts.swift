package import Domain

/// Energy and charge of the meters, kept across restarts. Written together with readings, so that both agree after a
/// power cut and a memory card gets no extra writes.
package final class EnergyCounts: MeterKeeping {
    private let meters: Meters
    private let repository: any EnergyCountRepository

    package init(meters: Meters, repository: any EnergyCountRepository) {
        self.meters = meters
        self.repository = repository
    }

    /// Call once, before any meter's session starts.
    ///
    /// - Parameter mainIDs: current ids of this host's meters, by former ids and aliases.
    package func restore(mainIDs: [MeterID: MeterID] = [:]) async throws {
        let counts = try await repository.energyCounts()
        var stored: [MeterID: EnergyCount] = [:]
        for (id, count) in counts {
            let meter = mainIDs[id] ?? id
            // Without a count under the current id, use the greatest count of the former ids.
            guard meter == id || counts[meter] == nil, stored[meter].map({ $0.isLess(than: count) }) ?? true else {
                continue
            }
            stored[meter] = count
        }
        for (id, meter) in mainIDs where counts[id] != nil {
            guard let sum = stored[meter] else { continue }
            try await repository.keepEnergyCount(sum, of: meter)
            try await repository.keepEnergyCount(nil, of: id)
        }
        for (meter, count) in stored {
            meters.use(meter) {
                newTrack(of: meter, count)
            } _: { _ in
            }
        }
    }

    package func track(for meter: MeterID) -> EnergyTrack { meters.take(meter) { newTrack(of: meter) } }

    private func newTrack(of meter: MeterID, _ count: EnergyCount = EnergyCount()) -> EnergyTrack {
        EnergyTrack(of: meter, count, repository: repository)
    }

    /// Returns the changed counts, and marks them as being written.
    func changes() -> [MeterID: EnergyCount] {
        var changes: [MeterID: EnergyCount] = [:]
        for track in meters.parts(EnergyTrack.self) { changes[track.meter] = track.takeChanged() }
        return changes
    }

    func wereWritten(_ changes: [MeterID: EnergyCount]) {
        for (meter, count) in changes { meters.part(EnergyTrack.self, of: meter)?.wasWritten(count) }
    }

    func putBack(_ changes: [MeterID: EnergyCount]) {
        for meter in changes.keys { meters.part(EnergyTrack.self, of: meter)?.wasNotWritten() }
    }

    /// Stored energy and charge of the meters with a session, as quantities of a reading.
    var written: [MeterID: Reading] {
        var written: [MeterID: Reading] = [:]
        for track in meters.parts(EnergyTrack.self, usedOnly: true) {
            guard let count = track.written else { continue }
            var sums = Reading()
            count.put(into: &sums)
            written[track.meter] = sums
        }
        return written
    }

    // MARK: Meters that go

    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        meters.part(EnergyTrack.self, of: meter)?.forget()
        meters.dropUnneeded(meter)
        try await repository.keepEnergyCount(nil, of: meter)
        return 0
    }

    package func merge(_ alias: MeterID, into meter: MeterID) async throws {
        guard let former = meters.part(EnergyTrack.self, of: alias), let count = former.count else { return }
        former.forget()
        meters.dropUnneeded(alias)
        let track = meters.use(meter) {
            newTrack(of: meter)
        } _: { track in
            track.takeUp(count)
            return track
        }
        try await track.writeChanges()
        try await repository.keepEnergyCount(nil, of: alias)
    }
}
