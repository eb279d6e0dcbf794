/// A charge session: which meter, from when to when, what flowed, and how much of that is known.
package struct Recording: Hashable, Sendable {
    package enum Trigger: String, Sendable, CaseIterable {
        /// A person started it.
        case hand
        /// The current rose above the threshold.
        case threshold
    }

    /// Why a recording ended.
    package enum End: String, Sendable, CaseIterable {
        /// A person ended it.
        case hand
        /// The current fell below the threshold.
        case threshold
        /// The cut-off of a battery test held.
        case cutoff
        /// No reading came for longer than the rules allow.
        case gap
        /// The load of a battery test could not be set or switched on.
        case load
        /// The settings no longer have a threshold.
        case settings
    }

    package let id: RecordingID
    /// The name a person gave it.
    package var name: String?
    /// A note a person wrote about it.
    package var note: String?
    /// Which kind of file its readings came from; nil for those that this program measured. A newer version may know
    /// more kinds than this one.
    package var source: String?
    /// What the meter told besides readings when it began: its charging mode, its groups, a contract. Nil where it told
    /// nothing.
    package var toldAtStart: ToldBody?
    /// The same as of the last reading.
    package var toldAtEnd: ToldBody?
    package var trigger: Trigger
    /// Nil while the recording is running.
    package var end: End?
    /// By the host's calendar: the end, or the last reading while the recording is running; the start if there was no
    /// reading.
    package var until: WallTime
    package var totals: RecordingTotals
    /// What makes it a battery test; nil for any other recording.
    package var test: BatteryTest?

    package init(
        id: RecordingID, name: String? = nil, trigger: Trigger, end: End? = nil, until: WallTime? = nil,
        totals: RecordingTotals = RecordingTotals(), test: BatteryTest? = nil
    ) {
        self.id = id
        self.name = name
        self.trigger = trigger
        self.end = end
        self.until = until ?? id.started
        self.totals = totals
        self.test = test
    }

    package var started: WallTime { id.started }

    /// What to know before believing its numbers.
    package var marks: [Mark] {
        var marks: [Mark] = []
        if totals.gapCount > 0 { marks.append(.gaps) }
        if totals.restarts > 0 { marks.append(.hostRestarted) }
        if totals.charge.resets + totals.energy.resets > 0 { marks.append(.counterReset) }
        if totals.charge.jumps + totals.energy.jumps > 0 { marks.append(.counterJump) }
        if totals.readings == 0, !isWaiting { marks.append(.empty) }
        if source != nil { marks.append(.imported) }
        return marks
    }

    package enum Mark: String, Sendable, CaseIterable {
        /// What flowed is unknown for some of the time.
        case gaps
        /// The host was down during the recording.
        case hostRestarted = "host-restarted"
        /// The meter's own counter restarted: the meter lost power, or somebody cleared the counter.
        case counterReset = "counter-reset"
        /// The meter's own counter made a step too large for any current: another group was chosen.
        case counterJump = "counter-jump"
        /// The recording has no readings.
        case empty
        /// Its readings came from a file.
        case imported
    }
}

extension Recording {
    /// Recordings of one meter, by one host or several, that overlap in time.
    package static func overlaps(among recordings: [Recording]) -> [RecordingID: [RecordingID]] {
        var found: [RecordingID: [RecordingID]] = [:]
        for (_, all) in Dictionary(grouping: recordings, by: \.id.meter) {
            let sorted = all.sorted { $0.id < $1.id }
            // Recordings that may overlap with later ones.
            var open: [Recording] = []
            for next in sorted {
                open.removeAll { $0.end != nil && $0.until <= next.started }
                for earlier in open {
                    found[earlier.id, default: []].append(next.id)
                    found[next.id, default: []].append(earlier.id)
                }
                open.append(next)
            }
        }
        return found
    }
}
