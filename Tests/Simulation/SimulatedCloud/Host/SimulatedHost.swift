import Domain

/// One `meterd`: the project's machines over a replica that a crash takes back.
struct SimulatedHost {
    /// A link to a meter, as its session sees it.
    enum Channel: Equatable {
        case none
        case opening(UInt64)
        case open(UInt64)
        case closing(UInt64)

        var id: UInt64? {
            switch self {
            case .none: nil
            case .opening(let id), .open(let id), .closing(let id): id
            }
        }
    }

    enum Permission: Equatable {
        case leased(LeasePermit)
        case unleased
    }

    let id: HostID
    let name: String
    /// An index of `CloudZone.names`.
    var zone = 0
    var clock: SimulatedClock
    var link: SimulatedLink
    var store: CrashStore<Replica>
    var isUp = true
    var isPaused = false
    /// Counts starts, so that what was meant for an earlier one is dropped.
    var run = 1
    /// What comes while it is paused, in order.
    var deferred: [SimulationEvent] = []
    var previousSession: SessionID?
    /// The zone's, as last known.
    var policy: LeasePolicy
    var wakeAt: TrueTime?

    // Of one run.
    var leases: [LeaseMachine]
    var requestIDs: [RequestID?]
    var channels: [Channel]
    var permissions: [Permission?]
    /// By meter, under what the permit was decided that is out.
    var decisions: [Decision?]
    /// By meter, a renewal was answered since by a store that went back after the permit was decided.
    var isTold: [Bool]
    /// By meter, when a person last wished to take it over.
    var takeoverWishes: [MonotonicTime?]
    /// Until when its running time counts for the believed date.
    var countedUntil: MonotonicTime?
    /// It started with its calendar in 2099, which nobody has set right yet.
    var isIn2099 = false
    var sync: SyncMachine
    var stream: UInt64?
    var lastStreamDelivery: TrueTime = 0
    /// Requests without an answer, by id.
    var calls: [UInt64: OpenCall] = [:]
    /// The last acquire of each meter.
    var acquireCalls: [UInt64?]
    /// When it last asked for renewals, for the planted single heartbeat.
    var lastRenewal: MonotonicTime?

    /// A request whose answer is awaited.
    struct OpenCall {
        var call: CloudCall
        /// On its own clock.
        var sentAt: MonotonicTime
        /// The store's operation it is part of.
        var operation: SyncOperation?
    }

    init(
        id: HostID, name: String, stamping: HostID, clock: SimulatedClock, link: SimulatedLink, scenario: Scenario,
        session: SessionID
    ) {
        self.id = id
        self.name = name
        self.clock = clock
        self.link = link
        store = CrashStore(
            Replica(
                clock: HybridClock(host: stamping), session: session,
                wants: Array(repeating: false, count: scenario.meters)))
        leases = []
        requestIDs = []
        channels = []
        permissions = []
        decisions = []
        isTold = []
        takeoverWishes = []
        acquireCalls = []
        policy = scenario.terms.policy
        sync = SyncMachine(zone: CloudZone.names[0], host: id)
        begin(scenario)
    }

    /// Everything that a process has in memory, as it is at its start.
    mutating func begin(_ scenario: Scenario) {
        let count = scenario.meters
        leases = (0..<count).map { _ in LeaseMachine(host: id, policy: policy) }
        requestIDs = Array(repeating: nil, count: count)
        channels = Array(repeating: .none, count: count)
        permissions = Array(repeating: nil, count: count)
        decisions = Array(repeating: nil, count: count)
        isTold = Array(repeating: false, count: count)
        takeoverWishes = Array(repeating: nil, count: count)
        countedUntil = nil
        acquireCalls = Array(repeating: nil, count: count)
        var timing = SyncTiming()
        timing.pageRecordsMax = 3
        timing.batchRecordsMax = 8
        timing.cleanUpInterval = .seconds(600)
        sync = SyncMachine(zone: CloudZone.names[zone], host: id, timing: timing)
        stream = nil
        calls = [:]
        deferred = []
        wakeAt = nil
    }

    /// Whether it may talk to a meter at a true time: its process runs, a channel is there, and its own clock has not
    /// reached the hard stop of a strict lease.
    func mayTalk(to meter: Int, at time: TrueTime) -> Bool {
        guard isUp, !isPaused, channels[meter] != .none, case .leased(let permit)? = permissions[meter] else {
            return false
        }
        return permit.terms.policy == .keep || clock.now(at: time) < permit.hardStopAt
    }

    /// Whether nobody else may talk to a meter meanwhile: the last word that it had of its lease was under `strict`.
    /// A grant that the cloud's store forgot when it went back protects nobody, until the holder hears of that.
    ///
    /// - Parameter generation: how often the store has gone back.
    func isProtected(_ meter: Int, generation: Int) -> Bool {
        guard let decision = decisions[meter], decision.policy == .strict else { return false }
        guard decision.generation != generation else { return true }
        if case .closing = channels[meter] { return false }
        return isTold[meter]
    }

    /// What the account or a grant says of the zone's policy.
    mutating func policyIs(_ policy: LeasePolicy) {
        self.policy = policy
        for meter in leases.indices { leases[meter].policyChanged(policy) }
    }

    /// When a write is said to have been made: its own wall clock, corrected by what the cloud's said,
    /// and no finer than it ticks.
    func physical(at time: TrueTime) -> UInt64 {
        let offset = sync.state.serverOffset?.offset ?? .zero
        let corrected = (clock.wall(at: time) + offset).millisecondsSince1970
        return UInt64(clamping: corrected / clock.wallTick * clock.wallTick)
    }

    /// Whether the cloud says about the same as this host's calendar.
    var isCalendarConfirmed: Bool {
        guard let offset = sync.state.serverOffset?.offset else { return false }
        return offset < .seconds(60) && offset > .seconds(-60)
    }

    /// When something has to be done next, in true time.
    var nextWake: TrueTime? {
        let moments = leases.compactMap(\.nextWake) + [sync.nextWake].compactMap { $0 }
        return moments.min().map { clock.trueTime(of: $0) }
    }
}
