/// Distinguishes a network that has returned from an unstable one (Docs/Sync.md#network).
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
/// The first report is not a gain, because the session starts with a sync run anyway.
package struct NetworkDebounce: Hashable, Sendable {
    private enum Phase: Hashable, Sendable {
        case unknown
        case lost
        case holding(until: MonotonicTime)
        case steady
    }

    /// Time for which the network must remain available before a synchronisation.
    package let hold: Duration
    /// Maximum random addition to `hold`: hosts behind one router regain the network at the same time.
    let spreadMax: Duration
    package private(set) var path: NetworkPath?
    private var phase = Phase.unknown

    package init(hold: Duration = .milliseconds(2500), spreadMax: Duration = .seconds(2)) {
        self.hold = hold
        self.spreadMax = spreadMax
    }

    /// Repeating the same report has no effect.
    ///
    /// - Parameter random: random bits for the spread.
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

    package mutating func woke(at now: MonotonicTime) -> OnWake {
        guard case .holding(let until) = phase, now >= until else { return .none }
        phase = .steady
        return .synchronise
    }

    /// Time at which to call `woke`; nil while only an event can change the state.
    package var nextWake: MonotonicTime? {
        if case .holding(let until) = phase { until } else { nil }
    }
}
