import Domain

struct SightingSet {
    private var present: [Sighting] = []

    /// Returns the changes, removals first, so that a port is free before another meter uses it.
    mutating func update(to now: [Sighting]) -> [SightingEvent] {
        let before = present
        present = now
        return before.filter { !now.contains($0) }.map(SightingEvent.vanished)
            + now.filter { !before.contains($0) }.map(SightingEvent.appeared)
    }

    /// Removes a meter, so that the next scan reports it again.
    mutating func remove(_ meter: MeterID) -> [SightingEvent] { update(to: present.filter { $0.id != meter }) }

    /// Removes a node that disappeared. The next scan may miss the removal, because a new node may have the same name.
    mutating func remove(node: String) -> [SightingEvent] {
        update(to: present.filter { $0.link.stored != node })
    }
}
