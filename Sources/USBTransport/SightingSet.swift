import Domain

/// What was there at the last look, and what has changed since. A value without a clock.
struct SightingSet {
    private var present: [Sighting] = []

    /// Compares with what is there now. Removals come first, so that a port that changed hands is free before it is
    /// taken.
    mutating func update(to now: [Sighting]) -> [SightingEvent] {
        let before = present
        present = now
        return before.filter { !now.contains($0) }.map(SightingEvent.vanished)
            + now.filter { !before.contains($0) }.map(SightingEvent.appeared)
    }

    /// A meter is to be reported again.
    mutating func remove(_ meter: MeterID) -> [SightingEvent] { update(to: present.filter { $0.id != meter }) }

    /// A device node disappeared, whether or not another look would show it: it may be back by then.
    mutating func remove(node: String) -> [SightingEvent] {
        update(to: present.filter { $0.link.stored != node })
    }
}
