package struct Recording: Hashable, Sendable {
    package enum Trigger: String, Sendable, CaseIterable {
        case hand
        case threshold
    }

    package enum End: String, Sendable, CaseIterable {
        case hand
        case threshold
        case cutoff
        /// No reading arrived for longer than `RecordingRules.gapMax`.
        case gap
        /// The load of a battery test could not be set or switched on.
        case load
        /// A user removed the threshold from the settings.
        case settings
    }

    package let id: RecordingID
    package var name: String?
    package var note: String?
    /// Format of the imported file, perhaps a newer version's; nil for readings measured by meterd.
    package var source: String?
    /// Telemetry other than readings, such as a charging mode; nil if there was none.
    package var toldAtStart: TelemetryBody?
    /// Telemetry as of the last reading.
    package var toldAtEnd: TelemetryBody?
    package var trigger: Trigger
    /// Cause of the end; nil while the recording is running.
    package var end: End?
    /// Time of the end, or of the last reading so far; the start if there is none.
    package var until: WallTime
    package var totals: RecordingTotals
    /// Battery test; nil for other recordings.
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

    /// Warnings about the recording's values.
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
        case gaps
        case hostRestarted = "host-restarted"
        /// The meter's own counter restarted: the meter lost power, or a user cleared it.
        case counterReset = "counter-reset"
        /// The meter's own counter made a step too large for any current: another data group was selected.
        case counterJump = "counter-jump"
        case empty
        case imported
    }
}

extension Recording {
    /// Returns, for each recording, the overlapping ones of the same meter, from any host. Omits recordings without
    /// any.
    package static func overlaps(among recordings: [Recording]) -> [RecordingID: [RecordingID]] {
        var found: [RecordingID: [RecordingID]] = [:]
        for (_, all) in Dictionary(grouping: recordings, by: \.id.meter) {
            let sorted = all.sorted { $0.id < $1.id }
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
