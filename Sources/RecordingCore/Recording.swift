package import MeterModel

/// A charge session: which meter, from when to when, what flowed, and how much of it is known.
package struct Recording: Hashable, Sendable {
    package enum Trigger: String, Sendable, CaseIterable {
        /// A person began it.
        case hand
        /// The current rose above the threshold.
        case threshold
    }

    /// Why it is over.
    package enum End: String, Sendable, CaseIterable {
        /// A person ended it.
        case hand
        /// The current fell below the threshold.
        case threshold
        /// Nothing came for longer than the rules allow.
        case gap
        /// The settings ask for no threshold any more.
        case settings
    }

    package let id: RecordingID
    /// What a person calls it.
    package var name: String?
    /// What a person wrote of it.
    package var note: String?
    package var trigger: Trigger
    /// nil means it goes on.
    package var end: End?
    /// By the host's calendar: its end, or the last reading while it goes on; the start where there was none.
    package var until: WallTime
    package var totals: RecordingTotals

    package init(
        id: RecordingID, name: String? = nil, trigger: Trigger, end: End? = nil, until: WallTime? = nil,
        totals: RecordingTotals = RecordingTotals()
    ) {
        self.id = id
        self.name = name
        self.trigger = trigger
        self.end = end
        self.until = until ?? id.started
        self.totals = totals
    }

    package var started: WallTime { id.started }

    /// What is to be known before its numbers are believed.
    package var marks: [Mark] {
        var marks: [Mark] = []
        if totals.gapCount > 0 { marks.append(.gaps) }
        if totals.restarts > 0 { marks.append(.hostRestarted) }
        if totals.charge.resets + totals.energy.resets > 0 { marks.append(.counterReset) }
        if totals.charge.jumps + totals.energy.jumps > 0 { marks.append(.counterJump) }
        if totals.readings == 0 { marks.append(.empty) }
        return marks
    }

    package enum Mark: String, Sendable, CaseIterable {
        /// For some of the time nobody knows what flowed.
        case gaps
        /// The host was down in between.
        case hostRestarted = "host-restarted"
        /// The meter's own counter began anew: it lost its power, or somebody cleared it.
        case counterReset = "counter-reset"
        /// The meter's own counter stepped further than any current could take it: another group was chosen.
        case counterJump = "counter-jump"
        /// No reading came.
        case empty
    }
}

extension Recording {
    /// Pairs of recordings of one meter, of different hosts or one, that tell of the same time.
    package static func overlaps(among recordings: [Recording]) -> [RecordingID: [RecordingID]] {
        var found: [RecordingID: [RecordingID]] = [:]
        for (_, all) in Dictionary(grouping: recordings, by: \.id.meter) {
            let sorted = all.sorted { $0.id < $1.id }
            // Those that may still reach into what comes next.
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
