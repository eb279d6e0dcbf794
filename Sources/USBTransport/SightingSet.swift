import Gateway

/// What was there at the last look, and what has changed since. A value without a clock.
struct SightingSet {
    private var present: [Sighting] = []

    /// Takes what is there now. What went comes first, so that a port that changed hands is free before it is taken.
    mutating func update(to now: [Sighting]) -> [SightingEvent] {
        let before = present
        present = now
        return before.filter { !now.contains($0) }.map(SightingEvent.vanished)
            + now.filter { !before.contains($0) }.map(SightingEvent.appeared)
    }
}
