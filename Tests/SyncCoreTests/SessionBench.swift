import Domain
import Testing

/// Drives a machine and keeps what it asked for. After each event it checks what must always hold.
struct SessionBench {
    private(set) var machine: SyncMachine
    var now = MonotonicTime.origin
    var random: UInt64 = 500
    /// The operation that was asked for and not yet answered.
    private(set) var operation: SyncOperation?
    private(set) var results: [SyncResult] = []
    private(set) var entries: [SyncEntry] = []
    private(set) var streamsOpened = 0
    private(set) var streamsClosed = 0
    /// Every operation so far, in order.
    private(set) var history: [SyncOperation] = []

    init(timing: SyncTiming = SyncTiming()) {
        machine = SyncMachine(zone: "home", host: .ours, timing: timing)
    }

    var state: SyncState { machine.state }
    var status: SyncStatus { machine.status }

    mutating func send(_ input: SyncInput, sourceLocation: SourceLocation = #_sourceLocation) {
        for effect in machine.handle(input, at: now, random: random) {
            switch effect {
            case .perform(let next):
                #expect(operation == nil, "two operations at once", sourceLocation: sourceLocation)
                operation = next
                history.append(next)
            case .openEvents: streamsOpened += 1
            case .closeEvents: streamsClosed += 1
            case .announce(let result): results.append(result)
            case .announceHalt: break
            case .log(let entry):
                #expect(entry.number == UInt64(entries.count + 1), sourceLocation: sourceLocation)
                entries.append(entry)
            }
        }
        #expect(machine.state.run?.operation == operation || isStale, sourceLocation: sourceLocation)
    }

    private var isStale: Bool { operation == nil }

    /// Ends the operation that is under way.
    mutating func answer(_ event: SyncInput, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(operation != nil, "nothing is under way", sourceLocation: sourceLocation)
        operation = nil
        send(event, sourceLocation: sourceLocation)
    }

    mutating func fail(_ kind: SyncFailure.Kind, retryAfter: Duration? = nil) {
        answer(.cloudFailed(SyncFailure(kind, "no", retryAfter: retryAfter)))
    }

    mutating func advance(by duration: Duration) {
        now = now + duration
        send(.woke)
    }

    /// From the start to the first read of the outbox, with the stream open and the store known.
    mutating func begin(pending: Int = 0) {
        send(.started)
        answer(.accountChecked(.home(), .exact(at: now)))
        send(.streamOpened)
        answer(
            .progressRead(
                SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home", tokens: .all("t0"), pending: pending)))
        answer(.corrected)
    }

    /// Answers as a cloud and a store with nothing new would, until nothing is under way.
    mutating func settleDown() {
        for _ in 0..<1000 {
            guard let operation else { return }
            answer(operation.emptyAnswer(at: now))
        }
        Issue.record("it never comes to rest")
    }

    /// Like `begin`, and then through the whole first run.
    mutating func beginAndRest() {
        begin()
        settleDown()
    }
}

extension HostID {
    static let ours = HostID(high: 1, low: 1)
    static let other = HostID(high: 2, low: 2)
}

extension CloudAccount {
    static func home(zone: String = "home", epoch: String = "e1", id: String? = nil) -> CloudAccount {
        CloudAccount(
            zone: zone, host: .ours, hostName: "pi", serverTime: 1000, epoch: epoch, policy: "keep", zoneID: id)
    }
}

extension SyncZone {
    /// The zone of `CloudAccount.home`.
    static func home(epoch: String = "e1", id: String? = nil) -> SyncZone {
        SyncZone(id: id, name: "home", epoch: epoch, serverTime: 1000)
    }
}

extension ClockSample {
    /// Both clocks agree.
    static func exact(at now: MonotonicTime) -> ClockSample { off(by: .zero, at: now) }

    /// The local clock is behind by `offset`.
    static func off(by offset: Duration, at now: MonotonicTime) -> ClockSample {
        let local: Int64 = 1_780_000_000_000 + now.sinceOrigin.milliseconds
        return ClockSample(
            serverTime: UInt64(local + offset.milliseconds), localTime: WallTime(millisecondsSince1970: local),
            roundTrip: .zero)
    }
}

extension [RecordType: String] {
    static func all(_ token: String) -> Self {
        Self(uniqueKeysWithValues: RecordType.known.map { ($0, token) })
    }
}

extension OutboxBatch {
    static func records(_ names: ClosedRange<Int>, type: RecordType = .deviceSettings) -> OutboxBatch {
        OutboxBatch(records: names.map { SyncRecord(key: RecordKey(type: type, name: "r\($0)")) })
    }
}

extension PushOutcome {
    /// Accepts all records, except those with a failure under their name.
    static func taking(_ batch: OutboxBatch, refusing failures: [String: SyncFailure.Kind] = [:]) -> PushOutcome {
        PushOutcome(
            results: batch.records.map { record in
                PushResult(
                    key: record.key, failure: failures[record.key.name].map { SyncFailure($0, "no \(record.key.name)") }
                )
            }, serverTime: 1000)
    }
}

extension ChangesPage {
    static func page(
        _ type: RecordType, count: Int = 0, token: String = "t1", moreComing: Bool = false, epoch: String = "e1"
    ) -> ChangesPage {
        ChangesPage(
            type: type, records: (0..<count).map { SyncRecord(key: RecordKey(type: type, name: "p\($0)")) },
            token: token,
            moreComing: moreComing, epoch: epoch)
    }
}

extension SyncOperation {
    /// How the operation ends if nothing is new and nothing fails.
    func emptyAnswer(at now: MonotonicTime) -> SyncInput {
        switch self {
        case .readProgress:
            .progressRead(SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home", tokens: .all("t0")))
        case .checkAccount: .accountChecked(.home(), .exact(at: now))
        case .createZone: .zoneCreated
        case .adopt: .adopted
        case .correct: .corrected
        case .readBatch: .batchRead(nil)
        case .push(let batch): .pushed(.taking(batch), .exact(at: now))
        case .settle: .settled(MergeOutcome())
        case .retryHeldBack: .heldBackRetried(0)
        case .restamp: .restamped
        case .beginRefetch: .refetchBegun
        case .fetch(let type, _, _): .pageFetched(.page(type))
        case .apply: .applied(MergeOutcome())
        case .cleanUp: .cleanedUp
        }
    }
}

extension Duration {
    static let minute = Duration.seconds(60)
}
