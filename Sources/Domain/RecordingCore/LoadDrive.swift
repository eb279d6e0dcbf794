/// Drives the load of a battery test: sets it, switches it on, and switches it off at the end.
///
/// ```
///             all orders taken              link lost
///   preparing ────────────────▶ drawing ◀──────────────▶ away
///       │ an order failed          │ the test is over      │ back, and told to switch off
///       ▼                          ▼                       ▼
///     over ◀──── it is off ──── ending ◀───────────────────┘
/// ```
///
/// A value without clock or link. Its caller performs one order at a time, says what came of it, and looks at the load once a
/// second.
package struct LoadDrive: Hashable, Sendable {
    package let plan: LoadPlan
    package private(set) var phase: Phase
    /// What a person should know; nil while all is well.
    package private(set) var problem: String?
    /// The orders that are still to be given before it draws.
    private var orders: ArraySlice<MeterCommand> = []
    /// An order is being performed.
    private var isBusy = false
    /// Looks at a load that is off although the test goes on.
    private var looksOff = 0
    /// Looks to let pass before the next attempt to switch it off.
    private var looksToWait = 0

    /// A load that is off for so many looks in a row has ended by itself: its cut-off, its timer, or a person at its keys.
    package static let looksOffMax = 15
    /// So many looks lie between two attempts to switch it off.
    package static let retryLooks = 10

    /// Kept in the recording, so that a restart goes on from there.
    package enum Phase: String, CaseIterable, Sendable {
        case preparing
        case drawing
        /// It was drawing when the link was lost, or this program ended. It goes on by itself.
        case away
        /// It is to be switched off.
        case ending
        case over
    }

    package enum Act: Hashable, Sendable {
        case none
        /// To be performed; `done` or `failed` says what came of it.
        case order(MeterCommand)
        /// The test is over, for this reason.
        case endTest(Recording.End)
    }

    package init(_ plan: LoadPlan) {
        self.plan = plan
        phase = .preparing
        orders = plan.orders[...]
    }

    /// Goes on after a restart. What was drawing may still do so; what was only being set was not yet switched on by this
    /// program's knowledge, and is switched off rather than begun unasked.
    package init(_ plan: LoadPlan, resuming phase: Phase, problem: String? = nil) {
        self.plan = plan
        self.problem = problem
        switch phase {
        case .preparing:
            self.phase = .ending
            self.problem = problem ?? "meterd ended before the load was switched on"
        case .drawing, .away: self.phase = .away
        case .ending, .over: self.phase = phase
        }
    }

    /// Whether the load draws, or may do so, as far as this program knows.
    package var mayDraw: Bool { phase == .drawing || phase == .away || phase == .ending }

    // MARK: Events

    /// The test began.
    package mutating func begin() -> Act { phase == .preparing ? nextOrder() : .none }

    private mutating func nextOrder() -> Act {
        guard let next = orders.first else { return .none }
        isBusy = true
        return .order(next)
    }

    /// The load took what it was ordered, and said so.
    package mutating func done(_ order: MeterCommand) -> Act {
        isBusy = false
        switch phase {
        case .preparing:
            guard orders.first == order else { return .none }
            orders.removeFirst()
            guard orders.isEmpty else { return nextOrder() }
            (phase, looksOff) = (.drawing, 0)
        case .ending where order.kind == .loadOff:
            phase = .over
        case .ending: return switchOff()
        case .drawing, .away, .over: break
        }
        return .none
    }

    /// An order was not taken, or nobody knows whether it was.
    ///
    /// - Parameter cause: for people.
    package mutating func failed(_ order: MeterCommand, because cause: String) -> Act {
        isBusy = false
        switch phase {
        case .preparing:
            problem = cause
            // Until the last order it was off; after that nobody knows.
            phase = order.kind == .loadOn ? .ending : .over
            return .endTest(.load)
        case .ending:
            problem = "the load could not be switched off: \(cause)"
            looksToWait = Self.retryLooks
        case .drawing, .away, .over: break
        }
        return .none
    }

    /// What the load says of itself now; nil while nothing is heard of it. Called once a second.
    package mutating func looked(at view: LoadView?) -> Act {
        switch phase {
        case .drawing: return lookedWhileDrawing(view)
        case .away:
            guard let view else { return .none }
            guard plan.onLinkLoss == .off else {
                phase = .drawing
                return lookedWhileDrawing(view)
            }
            phase = .ending
            return .endTest(.gap)
        case .ending: return lookedWhileEnding(view)
        case .preparing, .over: return .none
        }
    }

    private mutating func lookedWhileDrawing(_ view: LoadView?) -> Act {
        guard let view else {
            phase = .away
            return .none
        }
        problem = changed(view)
        looksOff = view.isOn ? 0 : looksOff + 1
        guard looksOff >= Self.looksOffMax else { return .none }
        phase = .over
        return .endTest(.cutoff)
    }

    /// Somebody turned its knob meanwhile.
    private func changed(_ view: LoadView) -> String? {
        if let current = view.current, current != plan.current {
            return "the load is set to \(current) mA now, and not to \(plan.current) mA"
        }
        if let cutoff = view.cutoff, cutoff != plan.cutoff {
            return "the load's cut-off is \(cutoff) mV now, and not \(plan.cutoff) mV"
        }
        return nil
    }

    private mutating func lookedWhileEnding(_ view: LoadView?) -> Act {
        guard let view, !isBusy else { return .none }
        guard view.isOn else {
            phase = .over
            return .none
        }
        guard looksToWait == 0 else {
            looksToWait -= 1
            return .none
        }
        return switchOff()
    }

    private mutating func switchOff() -> Act {
        isBusy = true
        return .order(MeterCommand(.loadOff))
    }

    /// The test is over, whatever ended it.
    ///
    /// - Parameter isLinked: whether the load can be told something now.
    package mutating func testEnded(isLinked: Bool) -> Act {
        switch phase {
        case .preparing, .drawing, .away:
            phase = .ending
            // An order under way is followed by this one.
            return isLinked && !isBusy ? switchOff() : .none
        case .ending: return isLinked && !isBusy && looksToWait == 0 ? switchOff() : .none
        case .over: return .none
        }
    }
}
