/// Sets up the electronic load of a battery test, switches it on, and switches it off at the end.
///
/// ```
///             all orders taken              link lost
///   preparing ────────────────▶ drawing ◀──────────────▶ away
///       │ an order failed          │ the test is over      │ link back, and the plan is to switch off
///       ▼                          ▼                       ▼
///     over ◀──── it is off ──── ending ◀───────────────────┘
/// ```
///
/// A state machine without clock or link. The caller sends one order (a command to the load) at a time, reports its
/// result, and calls `looked` once a second.
package struct LoadDrive: Hashable, Sendable {
    package let plan: LoadPlan
    package private(set) var phase: Phase
    /// Problem to show to the user; nil if there is none.
    package private(set) var problem: String?
    private var orders: ArraySlice<MeterCommand> = []
    private var isBusy = false
    /// Consecutive calls of `looked` with the load off.
    private var looksOff = 0
    /// Number of calls of `looked` to skip before the next attempt to switch off.
    private var looksToWait = 0

    /// Number of consecutive calls of `looked` with the load off after which the test ends: the load's cut-off, timer
    /// or keys switched it off.
    package static let looksOffMax = 15
    /// Calls of `looked` between attempts to switch off.
    package static let retryLooks = 10

    /// Stored in the recording, so that a restart continues with it.
    package enum Phase: String, CaseIterable, Sendable {
        case preparing
        case drawing
        /// The link was lost, or meterd ended, while the load was drawing current. It keeps drawing.
        case away
        case ending
        case over
    }

    package enum Act: Hashable, Sendable {
        case none
        /// Send the order, then call `done` or `failed`.
        case order(MeterCommand)
        case endTest(Recording.End)
    }

    package init(_ plan: LoadPlan) {
        self.plan = plan
        phase = .preparing
        orders = plan.orders[...]
    }

    /// Continues after a restart. A load that was drawing may still draw. One in preparation is switched off, because
    /// no user started the test again.
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

    package var mayDraw: Bool { phase == .drawing || phase == .away || phase == .ending }

    // MARK: Events

    package mutating func begin() -> Act { phase == .preparing ? nextOrder() : .none }

    private mutating func nextOrder() -> Act {
        guard let next = orders.first else { return .none }
        isBusy = true
        return .order(next)
    }

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

    /// Handles an order that failed, or whose result is unknown.
    package mutating func failed(_ order: MeterCommand, because cause: String) -> Act {
        isBusy = false
        switch phase {
        case .preparing:
            problem = cause
            // Only the last order switches the load on. If it fails, the load may be on nevertheless.
            phase = order.kind == .loadOn ? .ending : .over
            return .endTest(.load)
        case .ending:
            problem = "the load could not be switched off: \(cause)"
            looksToWait = Self.retryLooks
        case .drawing, .away, .over: break
        }
        return .none
    }

    /// Handles the load's state, nil while it sends no reports. Call once a second.
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

    /// Returns a message if a setting was changed on the load itself; nil otherwise.
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

    /// - Parameter isLinked: whether the load can receive an order now.
    package mutating func testEnded(isLinked: Bool) -> Act {
        switch phase {
        case .preparing, .drawing, .away:
            phase = .ending
            // After a pending order, `done` sends the order to switch off.
            return isLinked && !isBusy ? switchOff() : .none
        case .ending: return isLinked && !isBusy && looksToWait == 0 ? switchOff() : .none
        case .over: return .none
        }
    }
}
