package import Domain
import GatewayAPI
package import Logging
import Synchronization

/// Applies alert rules to this host's meters and notifies people (Docs/Alerts.md). Changes are written before notices
/// are sent, so that a restart neither repeats nor loses a notice.
package final class AlertService: MeterKeeping {
    package static let rulesMax = 200
    static let notifyMax = 8
    private static let tickInterval = Duration.seconds(1)

    package struct MeterFacts: Sendable {
        package var name: String?
        /// Id of the host that holds the meter's lease.
        package var holder: String?
        package var holderName: String?

        package init(name: String? = nil, holder: String? = nil, holderName: String? = nil) {
            self.name = name
            self.holder = holder
            self.holderName = holderName
        }
    }

    struct State {
        var rules: [AlertID: AlertRule] = [:]
        var names: [MeterID: String] = [:]
        var outbox = AlertOutbox()
        /// Events whose notices are not in the outbox yet.
        var events: [MeterAlerts.Event] = []
        var unwritten = AlertChanges()
        var lastNumber: Int64 = 0
        var timer: LoopTimer?
        var isDue = false
        /// Whether the host is shutting down: the absence of meters then triggers no event.
        var isLeaving = false
        /// Whether the last write failed; the log reports only the first failure.
        var isFailing = false
        var tellings: [Int64: Telling] = [:]
        /// Notice numbers of battery test results that are not in the outbox yet.
        var untold: [Int64] = []
    }

    let state = Mutex(State())
    /// Time before which connection states and missing data trigger no event, because every meter is absent for a while
    /// after a restart. Has its own lock, because `Meters` must not wait for the lock of `state`.
    private let settledAt = Mutex(MonotonicTime.origin)
    let meters: Meters
    let repository: any AlertRepository
    let notifier: any AlertNotifier
    let loop: any SessionLoop
    let logger: Logger
    private let meterLog: LogKeeper?
    let changes: ChangeMarks
    private let about = Mutex<@Sendable ([MeterID]) async -> [MeterID: MeterFacts]>({ _ in [:] })
    private let wake: AsyncStream<Void>
    let wakeUp: AsyncStream<Void>.Continuation

    package init(
        meters: Meters, repository: any AlertRepository, notifier: any AlertNotifier = SilentNotifier(),
        log: LogKeeper? = nil,
        changes: ChangeMarks = ChangeMarks(), loop: any SessionLoop, logger: Logger
    ) {
        self.meters = meters
        meterLog = log
        self.changes = changes
        self.repository = repository
        self.notifier = notifier
        self.loop = loop
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func ask(_ about: @escaping @Sendable ([MeterID]) async -> [MeterID: MeterFacts]) {
        self.about.withLock { $0 = about }
    }

    /// Call once, before any meter's session starts.
    ///
    /// - Parameter mainIDs: current ids of this host's meters, by former ids and aliases.
    package func restore(mainIDs: [MeterID: MeterID] = [:]) async throws {
        let (now, wall) = (loop.now, loop.wallNow)
        settledAt.withLock { $0 = now + MeterAlerts.settling }
        var alerts = try await repository.alerts()
        let moved = Set(alerts.map(\.rule.meter)).compactMap { meter in mainIDs[meter].map { (meter, $0) } }
        for (former, meter) in moved { try await repository.moveAlerts(from: former, to: meter) }
        if !moved.isEmpty { alerts = try await repository.alerts() }
        for stored in alerts {
            state.withLock { $0.rules[stored.rule.id] = stored.rule }
            add(stored.rule, stored.standing)
        }
        let (last, waiting) = (try await repository.lastAlertNotice(), try await repository.alertNotices())
        state.withLock { state in
            state.lastNumber = last
            for entry in waiting {
                let (age, overflow) = wall.millisecondsSince1970.subtractingReportingOverflow(
                    entry.notice.at.millisecondsSince1970)
                let dropped = state.outbox.add(entry, age: overflow ? .zero : .milliseconds(age), at: now)
                if let dropped { state.unwritten.ended.append(dropped.number) }
            }
        }
        arm()
    }

    // MARK: Sessions

    package func track(for meter: MeterID) -> AlertTrack { meters.take(meter, newTrack) }

    /// Suppresses events, because a shutdown closes the meters.
    func leaveAll() { state.withLock { $0.isLeaving = true } }

    func add(_ rule: AlertRule, _ standing: AlertSnapshot = AlertSnapshot()) {
        meters.use(rule.meter, newTrack) { $0.add(rule, standing, at: loop.now, loop.wallNow) }
    }

    private func newTrack() -> AlertTrack {
        AlertTrack(MeterAlerts(settledAt: settledAt.withLock { $0 }), loop: loop) { [weak self] in self?.happened($0) }
    }

    func track(of meter: MeterID) -> AlertTrack? { meters.part(of: meter) }

    private func happened(_ events: [MeterAlerts.Event]) {
        changes.mark(.host)
        let isNews = state.withLock { state in
            guard !state.isLeaving else { return false }
            state.events += events
            return true
        }
        guard isNews else { return }
        for event in events { log(event) }
        wakeUp.yield()
    }

    private func log(_ event: MeterAlerts.Event) {
        let rule = event.rule
        var metadata: Logger.Metadata = [
            "meter.id": "\(rule.meter)", "alert": "\(rule.id)", "name": "\(rule.title.visible)",
        ]
        switch event.outcome {
        case .none: return
        case .raised(let value):
            if let value { metadata["value"] = "\(value)" }
            logger.notice("alert raised", metadata: metadata)
            meterLog?.alerted(rule.meter, rule.title, outcome: "raised")
        case .cleared(let value):
            if let value { metadata["value"] = "\(value)" }
            logger.notice("alert cleared", metadata: metadata)
            meterLog?.alerted(rule.meter, rule.title, outcome: "over")
        case .happened:
            logger.notice("lease holder changed", metadata: metadata)
            meterLog?.alerted(rule.meter, rule.title, outcome: "changed hands")
        }
    }

    // MARK: Running

    /// Runs until `finish`. A delivery that `finish` interrupts is repeated after the next start.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in wake {
                if takeDue() { await tick() }
                await write()
                for entry in state.withLock({ $0.outbox.due(at: loop.now) }) {
                    group.addTask { [notifier] in
                        self.ended(entry, await notifier.send(entry.notice, number: entry.number, to: entry.target))
                    }
                }
                arm()
            }
            group.cancelAll()
        }
        if let timer = state.withLock({ $0.timer.take() }) { loop.cancel(timer) }
        await write()
    }

    package func finish() { wakeUp.finish() }

    /// Sets the timer for the next second if a rule depends on time, or if there are pending notices or unwritten
    /// changes.
    func arm() {
        let isNeeded = state.withLock { state in
            // Rules on values need no timer, because each new reading is checked.
            let isTimed = state.rules.values.contains { $0.pattern.condition.quantity == nil }
            return state.timer == nil && (isTimed || !state.outbox.isEmpty || !state.unwritten.isEmpty)
        }
        guard isNeeded else { return }
        let timer = loop.schedule(at: loop.now + Self.tickInterval) { [weak self] in
            guard let self else { return }
            state.withLock { ($0.timer, $0.isDue) = (nil, true) }
            wakeUp.yield()
        }
        state.withLock { $0.timer = timer }
    }

    private func takeDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
    }

    private func tick() async {
        let tracks = Set(state.withLock { $0.rules.values.map(\.meter) })
            .compactMap { meter in track(of: meter).map { (meter, $0) } }
        guard !tracks.isEmpty else { return }
        let asking = tracks.filter { $0.1.asksForHolder }
        let facts = asking.isEmpty ? [:] : await facts(of: asking.map(\.0))
        let (now, wall) = (loop.now, loop.wallNow)
        for (meter, track) in asking { track.holderIs(facts[meter]?.holder, at: now, wall) }
        for (_, track) in tracks where track.needsWaking { track.woke(at: now, wall) }
    }

    func facts(of meters: [MeterID]) async -> [MeterID: MeterFacts] {
        guard !meters.isEmpty else { return [:] }
        let ask = about.withLock { $0 }
        return await ask(meters)
    }

    // MARK: Writing and telling

    private func write() async {
        let meters = state.withLock { state in
            Set(state.events.map(\.rule.meter) + state.untold.compactMap { state.tellings[$0]?.meter })
        }
        let facts = await facts(of: meters.sorted())
        let changes = state.withLock { state in
            for (meter, facts) in facts { state.names[meter] = facts.name }
            let events = state.events
            state.events = []
            for event in events { note(event, facts[event.rule.meter], in: &state) }
            addResults(facts, in: &state)
            defer { state.unwritten = AlertChanges() }
            return state.unwritten
        }
        guard !changes.isEmpty else { return }
        do {
            try await repository.keepAlerts(changes)
            state.withLock { $0.isFailing = false }
        } catch {
            let isNews = state.withLock { state in
                state.unwritten.putBack(changes)
                defer { state.isFailing = true }
                return !state.isFailing
            }
            if isNews { logger.error("alerts not written: retrying", metadata: ["cause": "\(error)"]) }
        }
    }

    private func note(_ event: MeterAlerts.Event, _ facts: MeterFacts?, in state: inout State) {
        let rule = event.rule
        guard state.rules[rule.id] != nil, let track = track(of: rule.meter) else { return }
        state.unwritten.standings[rule.id] = track.standing(of: rule.id)
        guard let notice = AlertNotice(event, facts) else { return }
        for target in rule.notify {
            state.lastNumber += 1
            let entry = AlertOutbox.Entry(number: state.lastNumber, target: target, notice: notice)
            state.unwritten.sending.append(entry)
            if let dropped = state.outbox.add(entry, at: loop.now) { noteDropped(dropped, in: &state) }
        }
    }

    func noteDropped(_ entry: AlertOutbox.Entry, in state: inout State) {
        noteEnded(entry, in: &state)
        logger.warning(
            "notification dropped: queue full",
            metadata: ["notify": "\(entry.target)", "alert": "\(entry.notice.rule)"])
    }

    private func noteEnded(_ entry: AlertOutbox.Entry, in state: inout State) {
        if entry.notice.event == .finished {
            resultEnded(entry, in: &state)
        } else {
            state.unwritten.ended.append(entry.number)
        }
    }

    private func ended(_ entry: AlertOutbox.Entry, _ delivery: AlertDelivery) {
        let ending = state.withLock { state in
            let ending = state.outbox.ended(entry, delivery, at: loop.now)
            switch ending {
            case .delivered(let entry), .givenUp(let entry): noteEnded(entry, in: &state)
            case .putOff, nil: break
            }
            return ending
        }
        log(ending, delivery)
        wakeUp.yield()
    }

    private func log(_ ending: AlertOutbox.Ending?, _ delivery: AlertDelivery) {
        let cause =
            switch delivery {
            case .delivered: ""
            case .failed(let why), .refused(let why): why
            }
        switch ending {
        case .delivered(let entry):
            logger.info(
                "notification delivered", metadata: ["notify": "\(entry.target)", "alert": "\(entry.notice.rule)"])
        case .putOff(let entry, let pause):
            logger.info(
                "notification postponed",
                metadata: ["notify": "\(entry.target)", "cause": "\(cause)", "pause": "\(pause.shortText)"])
        case .givenUp(let entry):
            logger.warning(
                "notification abandoned",
                metadata: ["notify": "\(entry.target)", "alert": "\(entry.notice.rule)", "cause": "\(cause)"])
        case nil: break
        }
    }
}

package struct AlertEntry: Hashable, Sendable {
    package var rule: AlertRule
    package var standing: AlertSnapshot
    package var meterName: String?
}

extension AlertNotice {
    /// Nil if the event requires no notice.
    fileprivate init?(_ event: MeterAlerts.Event, _ facts: AlertService.MeterFacts?) {
        switch event.outcome {
        case .none: return nil
        case .raised(let value):
            self.init(.raised, event.rule, meterName: facts?.name, value: value, at: event.at)
        case .cleared(let value):
            self.init(.cleared, event.rule, meterName: facts?.name, value: value, at: event.at)
        case .happened:
            self.init(.happened, event.rule, meterName: facts?.name, at: event.at)
            holder = facts?.holderName ?? facts?.holder
        }
    }
}

extension AlertChanges {
    /// Restores the changes of a failed write. Newer changes win.
    fileprivate mutating func putBack(_ older: AlertChanges) {
        standings.merge(older.standings) { newer, _ in newer }
        // A notice delivered or given up before it was written needs no write.
        let over = Set(older.ended + ended)
        let unsent = older.sending + sending
        sending = unsent.filter { !over.contains($0.number) }
        ended = over.subtracting(unsent.map(\.number)).sorted()
    }
}
