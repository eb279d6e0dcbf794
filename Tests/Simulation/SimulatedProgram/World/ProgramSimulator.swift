import Domain
import MeterTestKit
import SimulatedCloud

/// One run: the program's own parts on some hosts and in the cloud, over virtual time and on one thread, with everything
/// that happens decided by one seed.
///
/// ```
/// let report = try ProgramSimulator.run(seed: 17)
/// #expect(report.violation == nil, "\(report.violation ?? "")")
/// ```
package struct ProgramSimulator {
    package struct Report: Sendable {
        package var seed: UInt64
        /// The first promise that was broken; nil where all were kept.
        package var violation: String?
        package var coverage: ProgramCoverage
        package var simulatedSeconds: Double
        package var events: Int
        /// Of every line that happened. Two runs with the same one had the same history.
        package var digest: UInt64
        /// Every line, where it was asked for.
        package var trace: [String]
        /// `strict` or `keep`.
        package var policy: String
    }

    let scenario: ProgramScenario
    let world: World
    let meters: [MeterID]
    let cloud: CloudMachine
    let hosts: [HostMachine]
    var isHealed = false
    var isOver = false
    var lastValue = 0

    /// A run of a quarter of an hour has a twentieth of it.
    private static let eventsMax = 2_000_000

    /// Runs a seed to its end.
    ///
    /// - Throws: what a store throws that cannot be opened.
    package static func run(seed: UInt64, bug: ProgramBug? = nil, traces: Bool = false) throws -> Report {
        let folder = try TemporaryFolder()
        return try withExtendedLifetime(folder) {
            var simulator = ProgramSimulator(seed: seed, bug: bug, traces: traces, folder: folder.path)
            return try simulator.run(seed)
        }
    }

    private init(seed: UInt64, bug: ProgramBug?, traces: Bool, folder: String) {
        var rng = SimulationRNG(seed: seed)
        let scenario = ProgramScenario(rng: &rng)
        let world = World(rng: rng, scenario, keepsLines: traces)
        let meters = (0..<scenario.meters).compactMap { MeterID("usb:0483:5750:\($0)") }
        let cloud = CloudMachine(world, directory: "\(folder)/cloud", scenario: scenario, bug: bug)
        self.scenario = scenario
        self.world = world
        self.meters = meters
        self.cloud = cloud
        hosts = (0..<scenario.hosts).map {
            HostMachine($0, in: world, folder: folder, scenario: scenario, bug: bug, meters: meters, cloud: cloud)
        }
    }

    private mutating func run(_ seed: UInt64) throws -> Report {
        try begin()
        while !isOver, world.judge.violation == nil, world.step() {
            if let act = planned.take() { try perform(act) }
            if world.events > Self.eventsMax { world.judge.object("there is no end") }
            checkTalkers()
        }
        let seconds = Double(world.now) / 1_000_000
        try endAll()
        if world.judge.violation == nil { judgeHistory() }
        return Report(
            seed: seed, violation: world.judge.violation.map { "at \(seconds) s: \($0)" }, coverage: world.coverage,
            simulatedSeconds: seconds, events: world.events, digest: world.digest, trace: world.lines,
            policy: scenario.terms.policy.rawValue)
    }

    // MARK: What is planned

    /// What the simulation itself does to the world.
    enum Act {
        case user(Int), fault, look, healEverything
        case healLink(Int), resume(Int), end(Int), start(Int)
        case resumeCloud, startCloud
    }

    /// Acts whose time has come. A reference, as they come by events of the world.
    final class Planned {
        private var acts: [Act] = []

        func add(_ act: Act) { acts.append(act) }

        func take() -> Act? { acts.isEmpty ? nil : acts.removeFirst() }
    }

    let planned = Planned()

    func plan(_ act: Act, at time: TrueTime) { world.at(time) { [planned] in planned.add(act) } }

    private mutating func begin() throws {
        world.coverage.note(scenario.terms.policy == .strict ? .runStrict : .runKeep)
        if scenario.isCalm { world.coverage.note(.runCalm) }
        for host in hosts { try host.install() }
        try cloud.start()
        try cloud.enrol(hosts, terms: scenario.terms)
        for host in hosts {
            try host.start()
            plan(.user(host.index), at: world.some(scenario.userGap))
        }
        if !scenario.isCalm { plan(.fault, at: world.some(scenario.faultGap)) }
        plan(.healEverything, at: scenario.length)
    }

    private mutating func perform(_ act: Act) throws {
        switch act {
        case .user(let host): userActs(host)
        case .fault: try strike()
        case .healLink(let host): healLink(host)
        case .resume(let host): hosts[host].run?.life.resume()
        case .resumeCloud: cloud.life?.resume()
        case .end(let host): try hosts[host].crash(reboots: false)
        case .start(let host): try hosts[host].start()
        case .startCloud: try cloud.start()
        case .healEverything: try healEverything()
        case .look: try look()
        }
        world.thread.drain()
    }

    /// Calls that are open end without an answer, and nothing of a run is left in memory but what the report has.
    private func endAll() throws {
        for host in hosts { try host.crash(reboots: false) }
        try cloud.crash(reboots: false)
        while world.step() {}
    }

    // MARK: Leases

    private func checkTalkers() {
        guard scenario.terms.policy == .strict else { return }
        for (index, _) in meters.enumerated() {
            let talkers = hosts.filter { host in
                guard let users = host.run?.users, index < users.count else { return false }
                return users[index].mayTalk
            }
            if talkers.count > 1 { world.judge.sees(talkers: talkers.map(\.name), meter: index) }
        }
    }

    /// The lease history of the run, whole, against the sequential lease.
    private mutating func judgeHistory() {
        // The history is on true time, the cloud's clock runs at its own rate.
        let checker = LinearizabilityChecker(
            terms: scenario.terms, slack: scenario.terms.over / 5, configurationsMax: 20_000)
        switch checker.check(world.judge.history) {
        case .linearizable: world.coverage.note(.historyLinearizable)
        // Hundreds of calls without an answer have more orders than there is time for.
        case .undecided: break
        case .notLinearizable(let example): world.judge.object("the lease history is not linearizable: \(example)")
        }
    }
}
