/// All rules of one meter. A reading reaches only the rules of its quantities, and only events allocate memory.
package struct MeterAlerts: Sendable {
    package struct Event: Hashable, Sendable {
        package var rule: AlertRule
        package var outcome: AlertMachine.Outcome
        package var at: WallTime
    }

    private struct Entry: Sendable {
        var rule: AlertRule
        var machine: AlertMachine
    }

    /// Rules without a quantity first, then the others by quantity.
    private var entries: [Entry] = []
    private var spans: [(quantity: Quantity, range: Range<Int>)] = []
    private var withoutQuantity = 0
    private var watched: QuantitySet = []
    private var state: ConnectionState?
    /// Time until which states and silence are ignored, because every meter is absent for a while after a restart.
    private let settledAt: MonotonicTime
    /// Maximum silence within a hold time; a longer one restarts it.
    package var gapMax = Self.gapMaxDefault

    package static let gapMaxDefault = Duration.seconds(10)

    /// Time after a start during which states and silence are ignored.
    package static let settling = Duration.seconds(30)

    package init(settledAt: MonotonicTime = .origin) { self.settledAt = settledAt }

    package var isEmpty: Bool { entries.isEmpty }
    package var raisedCount: Int { entries.count { $0.machine.standing.isRaised } }
    /// Whether the caller must call `woke` about once a second.
    package var needsWaking: Bool { entries.prefix(withoutQuantity).contains { $0.machine.needsWaking } }
    /// Whether the caller must call `holderIs` about once a second.
    package var asksForHolder: Bool {
        entries.prefix(withoutQuantity).contains { $0.rule.pattern.condition == .holderChanges }
    }

    package func standing(of id: AlertID) -> AlertSnapshot? { entries.first { $0.rule.id == id }?.machine.standing }

    package mutating func add(
        _ rule: AlertRule, _ standing: AlertSnapshot = AlertSnapshot(), at now: MonotonicTime, _ wall: WallTime
    ) -> [Event] {
        entries.append(Entry(rule: rule, machine: AlertMachine(rule.pattern, standing, at: max(now, settledAt))))
        sort()
        return judgeState(at: now, wall)
    }

    /// Returns the state of the removed rule; nil if this meter has no such rule.
    @discardableResult
    package mutating func remove(_ id: AlertID) -> AlertSnapshot? {
        guard let place = entries.firstIndex(where: { $0.rule.id == id }) else { return nil }
        let entry = entries.remove(at: place)
        sort()
        return entry.machine.standing
    }

    private mutating func sort() {
        func key(_ entry: Entry) -> Int { entry.rule.pattern.condition.quantity.map { Int($0.rawValue) } ?? -1 }
        entries.sort { (key($0), $0.rule.id) < (key($1), $1.rule.id) }
        withoutQuantity = entries.prefix { $0.rule.pattern.condition.quantity == nil }.count
        (spans, watched) = ([], [])
        for (place, entry) in entries.enumerated() {
            guard let quantity = entry.rule.pattern.condition.quantity else { continue }
            watched.formUnion(QuantitySet(quantity))
            if let last = spans.last, last.quantity == quantity {
                spans[spans.count - 1].range = last.range.lowerBound..<place + 1
            } else {
                spans.append((quantity, place..<place + 1))
            }
        }
    }

    // MARK: Events

    package mutating func received(_ reading: TimedReading) -> [Event] {
        guard !entries.isEmpty else { return [] }
        var events: [Event] = []
        for place in 0..<withoutQuantity {
            note(entries[place].machine.received(reading, gapMax: gapMax), place, reading.wallTime, in: &events)
        }
        guard !watched.isDisjoint(with: reading.reading.known) else { return events }
        for span in spans where reading.reading.known.contains(span.quantity) {
            for place in span.range {
                note(entries[place].machine.received(reading, gapMax: gapMax), place, reading.wallTime, in: &events)
            }
        }
        return events
    }

    package mutating func stateChanged(
        to state: ConnectionState, at now: MonotonicTime, _ wall: WallTime
    ) -> [Event] {
        self.state = state
        return judgeState(at: now, wall)
    }

    private mutating func judgeState(at now: MonotonicTime, _ wall: WallTime) -> [Event] {
        guard let state, now >= settledAt else { return [] }
        var events: [Event] = []
        for place in 0..<withoutQuantity {
            note(entries[place].machine.stateChanged(to: state, at: now, wall), place, wall, in: &events)
        }
        return events
    }

    package mutating func holderIs(_ holder: String?, at now: MonotonicTime, _ wall: WallTime) -> [Event] {
        var events: [Event] = []
        for place in 0..<withoutQuantity {
            note(entries[place].machine.holderIs(holder, at: now, wall), place, wall, in: &events)
        }
        return events
    }

    package mutating func woke(at now: MonotonicTime, _ wall: WallTime) -> [Event] {
        var events = judgeState(at: now, wall)
        for place in 0..<withoutQuantity {
            note(entries[place].machine.woke(at: now, wall), place, wall, in: &events)
        }
        return events
    }

    private func note(_ outcome: AlertMachine.Outcome, _ place: Int, _ wall: WallTime, in events: inout [Event]) {
        guard outcome != .none else { return }
        events.append(Event(rule: entries[place].rule, outcome: outcome, at: wall))
    }
}
