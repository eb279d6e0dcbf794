import Domain

/// What is written down of a run. A reference, so that a line may be made of anything in the simulation.
final class Trace {
    var lines: [String] = []
}

/// One run: some hosts and a cloud over virtual time, with everything that happens decided by one seed.
///
/// ```
/// let report = Simulator.run(seed: 17)
/// #expect(report.violation == nil, "\(report.violation ?? "")")
/// ```
package struct Simulator {
    package struct Report: Sendable {
        package var seed: UInt64
        /// The first promise that was broken; nil: none.
        package var violation: String?
        package var coverage: Coverage
        package var simulatedSeconds: Double
        package var events: Int
        /// Every event in its order, if it was asked for.
        package var trace: [String]
        /// `strict` or `keep`.
        package var policy: String
    }

    struct Grant {
        var call: CloudCall
        var requestID: RequestID
        var token: FencingToken
        /// Its answer left the server. One that did not may be in the store, and has its place among those remembered.
        var isAnswered = false
    }

    let seed: UInt64
    let scenario: Scenario
    var rng: SimulationRNG
    var queue = EventQueue<SimulationEvent>()
    var now: TrueTime = 0
    var hosts: [SimulatedHost] = []
    var server: SimulatedServer
    var judge: Judge
    var coverage = Coverage()
    let trace: Trace?
    /// Ids of calls, channels and streams.
    var lastID: UInt64 = 0
    /// A backup of the cloud, and when it was made.
    var backup: CloudState?
    /// A copy of its store that is put back as it is.
    var copy: CloudState?
    /// How often that happened.
    var generation = 0
    /// The store was restored or went back: grants were taken back, which no sequential lease explains.
    var hasRestored = false
    /// The sequential lease knows one policy.
    var hasChangedPolicy = false
    /// Hosts are often cut off while others want their meters.
    var isTense = false
    /// The store goes back once the next edit was acknowledged.
    var putsBackSoon = false
    /// By meter, what was granted last, to be repeated late. No more than a lease remembers.
    var grants: [[Grant]]
    var isHealed = false
    var isOver = false
    /// The next commit of this host, or of the server, is killed in the middle.
    var killsHost: Int?
    var killsServer = false
    var lastValue: Int64 = 0
    var relay: SimulatedRelay

    /// A run of some seventy minutes has a tenth of it.
    private static let eventsMax = 1_000_000

    /// Runs a seed to its end.
    package static func run(seed: UInt64, bug: PlantedBug? = nil, traces: Bool = false) -> Report {
        var simulator = Simulator(seed: seed, bug: bug, traces: traces)
        return simulator.run()
    }

    init(seed: UInt64, bug: PlantedBug?, traces: Bool) {
        self.seed = seed
        var rng = SimulationRNG(seed: seed)
        let scenario = Scenario(seed: seed, bug: bug, rng: &rng)
        self.scenario = scenario
        trace = traces ? Trace() : nil
        grants = Array(repeating: [], count: scenario.meters)
        judge = Judge(meters: scenario.meters)
        relay = SimulatedRelay(seed: seed, scenario)
        let ids = (0..<scenario.hosts).map { _ in HostID(using: &rng) }
        let meters = (0..<scenario.meters).compactMap { MeterID("usb:0483:5750:\($0)") }
        server = SimulatedServer(
            scenario: scenario,
            members: ids.enumerated().map { .init(id: $0.element, name: "host\($0.offset)") }, meters: meters)
        for index in 0..<scenario.hosts {
            var link = SimulatedLink(
                lossPermille: scenario.lossPermille, doublePermille: scenario.doublePermille,
                slowPermille: scenario.slowPermille, slowest: scenario.slowest)
            if scenario.kind == .oneLoss { link.oneLossPer = scenario.terms.heartbeat.nanoseconds / 1000 }
            let isTwin = scenario.hasTwin && index == 1
            let clock = SimulatedClock(
                rate: scenario.hostRates[index], wallError: scenario.wallErrors[index],
                wallTick: scenario.wallTicks[index])
            hosts.append(
                SimulatedHost(
                    id: ids[index], name: "host\(index)", stamping: isTwin ? ids[0] : ids[index], clock: clock,
                    link: link, scenario: scenario, session: SessionID(using: &rng)))
        }
        self.rng = rng
    }

    mutating func run() -> Report {
        begin()
        var events = 0
        while !isOver, judge.violation == nil, let next = queue.next() {
            now = next.time
            events += 1
            if events > Self.eventsMax { judge.object("after \(events) events there is no end") }
            handle(next.event)
        }
        if judge.violation == nil { judgeHistory() }
        coverage += server.coverage
        return Report(
            seed: seed, violation: judge.violation.map { "at \(Double(now) / 1_000_000) s: \($0)" },
            coverage: coverage, simulatedSeconds: Double(now) / 1_000_000, events: events, trace: trace?.lines ?? [],
            policy: scenario.terms.policy.rawValue)
    }

    private mutating func begin() {
        coverage.note(scenario.terms.policy == .strict ? .runStrict : .runKeep)
        if scenario.kind == .oneLoss { coverage.note(.runOneLoss) }
        isTense = scenario.kind == .edge
        if scenario.kind == .edge { coverage.note(.runEdge) }
        if scenario.hasTwin { coverage.note(.counterTwin) }
        queue.add(.ping(run: server.run), at: 15 * .second)
        queue.add(.settleLines(run: server.run), at: .second)
        queue.add(.healEverything, at: scenario.length)
        if scenario.kind != .oneLoss { queue.add(.fault, at: some(scenario.faultGap)) }
        beginRelay()
        for host in hosts.indices { start(host) }
    }

    // MARK: Dispatch

    private mutating func handle(_ event: SimulationEvent) {
        if let (index, run) = event.host {
            guard hosts[index].isUp, hosts[index].run == run else { return }
            guard !hosts[index].isPaused else {
                hosts[index].deferred.append(event)
                return
            }
            handle(event, at: index)
            scheduleWake(index)
            checkTalkers()
            return
        }
        switch event {
        case .request(let call): arrive(call)
        case .flush(let run): if run == server.run, server.isUp { flush() }
        case .ping(let run): ping(run)
        case .settleLines(let run): settleLines(run)
        case .fault: strike()
        case .hostResumes(let host): resume(host)
        case .hostStarts(let host): if !hosts[host].isUp { start(host) }
        case .serverResumes: resumeServer()
        case .serverStarts: if !server.isUp { startServer() }
        case .linkHeals(let host): healLink(host)
        case .hostCalendarRight(let host): setCalendarRight(host)
        case .serverCalendarRight: setServerCalendarRight()
        case .relay(let occasion): handle(occasion)
        case .healEverything: healEverything()
        case .lookAtEnd: lookAtEnd()
        default: break
        }
        checkTalkers()
    }

    private mutating func handle(_ event: SimulationEvent, at index: Int) {
        switch event {
        case .wake: wake(index)
        case .user: userActs(index)
        case .response(_, _, let call, let response, let decision): answered(index, call, response, decision)
        case .callFailed(_, _, let call): failed(index, call)
        case .streamed(_, _, let stream, let event): if hosts[index].stream == stream { heard(index, event) }
        case .streamBroke(_, _, let stream): if hosts[index].stream == stream { lostStream(index) }
        case .stored(_, _, let operation): stored(index, operation)
        case .channelOpened(_, _, let meter, let channel): channelOpened(index, meter, channel)
        case .channelClosed(_, _, let meter, let channel): channelClosed(index, meter, channel)
        case .wantAgain(_, _, let meter): wantAgain(index, meter)
        case .relay(let occasion): handle(occasion)
        default: break
        }
    }

    // MARK: Shared

    /// Around a time: from nothing to its double.
    mutating func some(_ time: TrueTime) -> TrueTime { now + TrueTime(rng.number(below: Int(time) * 2)) + 1 }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    func note(_ line: @autoclosure () -> String) {
        guard let trace else { return }
        trace.lines.append("\(Double(now) / 1_000_000) \(line())")
    }

    mutating func scheduleWake(_ index: Int) {
        guard hosts[index].isUp, !hosts[index].isPaused, let next = hosts[index].nextWake else { return }
        let time = max(next, now)
        guard hosts[index].wakeAt != time else { return }
        hosts[index].wakeAt = time
        queue.add(.wake(host: index, run: hosts[index].run), at: time)
    }

    private mutating func checkTalkers() {
        guard server.terms.policy == .strict else { return }
        for meter in 0..<scenario.meters {
            var talkers = 0
            for host in hosts.indices where talks(host, meter) { talkers += 1 }
            guard talkers > 1 else { continue }
            judge.sees(talkers: hosts.indices.filter { talks($0, meter) }.map { hosts[$0].name }, meter: meter)
        }
    }

    private func talks(_ host: Int, _ meter: Int) -> Bool {
        hosts[host].isProtected(meter, generation: generation) && hosts[host].mayTalk(to: meter, at: now)
    }

    /// The lease history of the run, whole, against the sequential lease.
    private mutating func judgeHistory() {
        guard !hasRestored, !hasChangedPolicy else { return }
        for host in hosts.indices { loseOpenCalls(host) }
        // The history is on true time, the server's clock runs at its own rate.
        let slack = scenario.terms.over / 5
        let checker = LinearizabilityChecker(terms: scenario.terms, slack: slack, configurationsMax: 20_000)
        switch checker.check(judge.history) {
        case .linearizable: coverage.note(.historyLinearizable)
        // Hundreds of calls without an answer have more orders than there is time for.
        case .undecided: coverage.note(.historyUndecided)
        case .notLinearizable(let example): judge.object("the lease history is not linearizable: \(example)")
        }
    }
}
