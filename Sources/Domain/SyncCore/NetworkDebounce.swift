/// Tells a network that is back from one that flaps (Docs/Sync.md#network).
///
/// ```
///            gained                    held 2.5 s and the spread: synchronise
/// ┌──────┐──────────▶┌─────────┐──────────────────▶┌────────┐
/// │ lost │           │ holding │                   │ steady │
/// └──────┘◀──────────└─────────┘                   └────────┘
///     ▲      lost                        lost          │
///     └────────────────────────────────────────────────┘
/// ```
///
/// The first report about the network is not a gain: the session begins with a run anyway.
package struct NetworkDebounce: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        case unknown
        case lost
        case holding(until: MonotonicTime)
        case steady
    }

    /// How long a gain must last.
    package let hold: Duration
    /// Longest random time added to that, because hosts behind one router come back together.
    let spreadMax: Duration
    /// The latest report, if there was any.
    package private(set) var path: NetworkPath?
    private var phase = Phase.unknown

    package init(hold: Duration = .milliseconds(2500), spreadMax: Duration = .seconds(2)) {
        self.hold = hold
        self.spreadMax = spreadMax
    }

    /// The state of the network was reported. Reporting the same state again changes nothing.
    ///
    /// - Parameter random: random bits, for the spread.
    package mutating func pathChanged(to path: NetworkPath, at now: MonotonicTime, random: UInt64) {
        self.path = path
        switch (phase, path.isSatisfied) {
        case (.unknown, true): phase = .steady
        case (.lost, true): phase = .holding(until: now + hold + spreadMax * Int(random % 1001) / 1000)
        case (.unknown, false), (.holding, false), (.steady, false): phase = .lost
        case (.lost, false), (.holding, true), (.steady, true): break
        }
    }

    package enum OnWake: Hashable, Sendable { case synchronise, none }

    /// Time passed. Harmless to call at any moment.
    package mutating func woke(at now: MonotonicTime) -> OnWake {
        guard case .holding(let until) = phase, now >= until else { return .none }
        phase = .steady
        return .synchronise
    }

    /// When to call `woke`; nil while only an event can change anything.
    package var nextWake: MonotonicTime? {
        if case .holding(let until) = phase { until } else { nil }
    }
}
