import Domain

/// One `metercloud`: the project's rules over a store that a crash takes back, with lease queues and streams in memory.
///
/// Whatever it answers waits until the store is synced, as with group commit. Renewals alone are kept in memory.
struct SimulatedServer {
    struct Member {
        var id: HostID
        var name: String
    }

    struct Line {
        var waiters: [Int] = []
        var offeredUntil: MonotonicTime?
    }

    var clock: SimulatedClock
    var store: CrashStore<CloudState>
    let members: [Member]
    let meters: [MeterID]
    var terms: LeaseTerms
    let bug: PlantedBug?
    let merge: Merge
    var isUp = true
    var isPaused = false
    /// It started with its calendar in 2099, and nothing confirms that.
    var isIn2099 = false
    /// Counts starts, so that what was meant for an earlier one is dropped.
    var run = 1
    /// After a restore nothing new is granted before.
    var grantsNothingNewBefore: MonotonicTime?
    var lines: [Line]
    /// Open streams by host.
    var streams: [UInt64?]
    /// By host, the zone whose news its stream brings.
    var streamZones: [Int]
    /// By zone, whether this run has set its mark.
    var hasMarked = CloudZone.names.map { _ in false }
    /// To be sent once the store is synced.
    var pendingResponses: [(call: CloudCall, response: CloudResponse, decision: Decision)] = []
    var pendingEvents: [(host: Int, event: StreamEvent)] = []
    /// What requests without a fault of their own are answered with for now.
    var trouble: SyncFailure?
    var troubleUntil: TrueTime = 0
    var coverage = Coverage()
    /// The last holder of each meter, for the planted renewal.
    var formerHolders: [LeaseRecord?]

    init(scenario: Scenario, members: [Member], meters: [MeterID]) {
        clock = SimulatedClock(rate: scenario.serverRate, wallError: 0, wallTick: 1)
        store = CrashStore(CloudState(meters: meters.count))
        self.members = members
        self.meters = meters
        terms = scenario.terms
        bug = scenario.bug
        merge = Merge(
            takesEqual: scenario.bug == .mergeTakesEqual,
            tellsAgain: scenario.bug != .neverTellsAgain && scenario.bug != .settlesUnsent)
        lines = Array(repeating: Line(), count: meters.count)
        streams = Array(repeating: nil, count: members.count)
        streamZones = Array(repeating: 0, count: members.count)
        formerHolders = Array(repeating: nil, count: meters.count)
    }

    // MARK: Starting

    /// Begins anew with what the store has. All leases count as renewed just now (rule 5).
    mutating func start(at time: TrueTime) {
        isUp = true
        run += 1
        hasMarked = CloudZone.names.map { _ in false }
        let now = clock.now(at: time)
        store.touch { state in
            for meter in state.leases.indices { state.leases[meter]?.renewedAt = now }
        }
        grantsNothingNewBefore = store.value.isRestoring ? now + terms.over : nil
    }

    mutating func crash(_ rng: inout SimulationRNG) {
        isUp = false
        if store.hasUnsynced { coverage.note(.unsyncedLost) }
        store.crash(&rng)
        pendingResponses.removeAll()
        pendingEvents.removeAll()
        lines = Array(repeating: Line(), count: meters.count)
        streams = Array(repeating: nil, count: members.count)
    }

    /// Puts a backup in place, as `metercloud restore` does before the start.
    mutating func restore(_ backup: CloudState, epoch: String, at time: TrueTime) {
        var state = backup
        state.epoch = epoch
        if bug != .tokensNotRaised {
            let seconds = UInt64(clamping: clock.wall(at: time).millisecondsSince1970) / 1000
            state.tokenFloor = FencingToken(rawValue: max(backup.tokenFloor.rawValue, seconds << 20))
        }
        state.isRestoring = true
        store.replace(with: state)
    }

    // MARK: Requests

    mutating func handle(_ call: CloudCall, at time: TrueTime, _ rng: inout SimulationRNG) -> CloudResponse {
        if let trouble, time < troubleUntil, call.request.isRecords {
            note(trouble.kind)
            return .failed(trouble)
        }
        switch call.request {
        case .acquire(let request, let meter): return acquire(request, meter, from: call.host, at: time)
        case .renew(let leases, let session): return renew(leases, session, from: call.host, at: time)
        case .release(let token, let meter, let session): return release(token, meter, session, at: time)
        case .enqueue(let meter): return enqueue(meter, from: call.host, at: time)
        case .leaveQueue(let meter):
            leaveLine(meter, call.host)
            return .done
        case .openStream(let id):
            streams[call.host] = id
            streamZones[call.host] = call.zone
            pendingEvents.append((call.host, .opened))
            return .done
        case .closeStream(let id):
            if streams[call.host] == id { streams[call.host] = nil }
            return .done
        case .account, .createZone, .modify, .changes: return records(call, at: time, &rng)
        }
    }

    // MARK: Events

    mutating func tellAll(_ event: StreamEvent, in zone: Int) {
        for host in streams.indices where streams[host] != nil && streamZones[host] == zone {
            pendingEvents.append((host, event))
        }
    }

    mutating func tellLease(_ meter: Int, at now: MonotonicTime) {
        guard let record = store.value.leases[meter] else { return }
        tellAll(.lease(view(record, meter, at: now), meter: meter), in: 0)
    }

    func view(_ record: LeaseRecord, _ meter: Int, at now: MonotonicTime) -> LeaseView {
        LeaseView(record, of: meters[meter], at: now, waiting: lines[meter].waiters.map { members[$0].name })
    }

    mutating func note(_ kind: SyncFailure.Kind) {
        switch kind {
        case .notAuthenticated: coverage.note(.notAuthenticated)
        case .permissionDenied: coverage.note(.permissionDenied)
        case .zoneNotFound: coverage.note(.zoneNotFound)
        case .changeTokenExpired, .timelineLost, .anotherZone: break
        case .limitExceeded: coverage.note(.limitExceeded)
        case .rateLimited: coverage.note(.rateLimited)
        case .serviceUnavailable: coverage.note(.serviceUnavailable)
        case .clockSkew: coverage.note(.clockSkew)
        case .badRequest: coverage.note(.badRequest)
        case .network: coverage.note(.network)
        case .wrongCertificate: coverage.note(.wrongCertificate)
        case .quotaExceeded, .leaseHeld, .readOnly, .other: break
        }
    }
}

extension CloudRequest {
    /// Of the settings; the rest is of leases and streams.
    fileprivate var isRecords: Bool {
        switch self {
        case .account, .createZone, .modify, .changes: true
        case .acquire, .renew, .release, .enqueue, .leaveQueue, .openStream, .closeStream: false
        }
    }
}
