import Domain

/// The smallest cloud and store that a session can run against: numbers for changes, a list for the outbox.
struct WalkWorld {
    /// Number of changes of each type in the cloud. A token is such a number.
    var cloud: [RecordType: Int] = [:]
    /// Number of those that are stored here.
    var stored: [RecordType: Int] = [:]
    var outbox: [Int] = []
    /// Pushed changes, in the order in which the cloud accepted them.
    var told: [Int] = []
    var parked: [Int] = []
    /// Changes that the cloud has no room for.
    var heldBack: [Int] = []
    /// Whether the cloud has room for every third change only.
    var isFull = false
    /// Whether it was ever full.
    private(set) var wasFull = false
    /// Changes that make the cloud refuse any batch with one of them.
    var poison: Set<Int> = []
    var epoch = 1
    var adopted: Int?
    var refetching: Set<RecordType> = []
    /// Types whose tokens are below the floor.
    var expired: Set<RecordType> = []
    private var nextRecord = 0

    mutating func write(isPoison: Bool) {
        nextRecord += 1
        outbox.append(nextRecord)
        if isPoison { poison.insert(nextRecord) }
    }

    /// An earlier backup becomes the cloud's store: it lacks what was pushed since.
    mutating func restore() {
        epoch += 1
        told = []
        cloud = cloud.mapValues { $0 / 2 }
    }

    var isConverged: Bool {
        outbox.isEmpty && heldBack.isEmpty
            && RecordType.known.allSatisfy { stored[$0, default: 0] == cloud[$0, default: 0] }
            && adopted == epoch
    }

    /// Does what a cloud and a store would do.
    mutating func perform(_ operation: SyncOperation, pageMax: Int, at now: MonotonicTime) -> SyncInput {
        switch operation {
        case .readProgress:
            var progress = SyncProgress(
                epoch: adopted.map { "\($0)" }, zone: "zone home", zoneName: "home",
                tokens: stored.mapValues { "\($0)" }, refetching: refetching,
                pending: outbox.count, parked: parked.count)
            progress.heldBack = heldBack.count
            return .progressRead(progress)
        case .checkAccount: return .accountChecked(.home(epoch: "\(epoch)"), .exact(at: now))
        case .createZone: return .zoneCreated
        case .adopt(let zone, _):
            adopted = Int(zone.epoch)
            stored = [:]
            refetching = []
            expired = []
            heldBack = []
            outbox = Array(Set(outbox).union(1..<(nextRecord + 1)).subtracting(parked)).sorted()
            return .adopted
        case .correct: return .corrected
        case .readBatch(let recordsMax, _, _):
            let names = outbox.prefix(recordsMax)
            return .batchRead(names.isEmpty ? nil : OutboxBatch(records: names.map(Self.record)))
        case .push(let batch): return push(batch, at: now)
        case .settle(_, let outcome): return settle(outcome)
        case .retryHeldBack(let recordsMax):
            let names = heldBack.prefix(recordsMax)
            heldBack.removeFirst(names.count)
            outbox = (outbox + names).sorted()
            return .heldBackRetried(names.count)
        case .restamp: return .restamped
        case .beginRefetch(let type):
            stored[type] = nil
            expired.remove(type)
            refetching.insert(type)
            return .refetchBegun
        case .fetch(let type, let since, let limit): return fetch(type, since, min(limit, pageMax))
        case .apply(let page):
            stored[page.type] = Int(page.token)
            if !page.moreComing { refetching.remove(page.type) }
            return .applied(MergeOutcome(changed: page.records.map(\.key)))
        case .cleanUp: return .cleanedUp
        }
    }

    private func fetch(_ type: RecordType, _ since: String?, _ limit: Int) -> SyncInput {
        if since != nil, expired.contains(type) || adopted != epoch {
            return .cloudFailed(SyncFailure(.changeTokenExpired(epoch: "\(epoch)"), "expired"))
        }
        let start = since.flatMap { Int($0) } ?? 0
        let end = min(cloud[type, default: 0], start + limit)
        return .pageFetched(
            ChangesPage(
                type: type, records: (start..<max(start, end)).map(Self.record), token: "\(end)",
                moreComing: end < cloud[type, default: 0], epoch: "\(epoch)"))
    }

    private mutating func push(_ batch: OutboxBatch, at now: MonotonicTime) -> SyncInput {
        let numbers = batch.records.map(Self.number)
        guard poison.isDisjoint(with: numbers) else {
            return .cloudFailed(SyncFailure(.limitExceeded, "too large"))
        }
        let refused = isFull ? numbers.filter { $0 % 3 != 0 } : []
        if !refused.isEmpty { wasFull = true }
        told += numbers.filter { !told.contains($0) && !refused.contains($0) }
        let failures = Dictionary(uniqueKeysWithValues: refused.map { ("\($0)", SyncFailure.Kind.quotaExceeded) })
        return .pushed(.taking(batch, refusing: failures), .exact(at: now))
    }

    private mutating func settle(_ outcome: PushOutcome) -> SyncInput {
        let decided = Set(outcome.results.map { Self.number($0.key) })
        let full = outcome.results.filter { $0.failure?.kind == .quotaExceeded }.map { Self.number($0.key) }
        heldBack += full.filter { !heldBack.contains($0) }
        parked += outcome.results.filter { $0.failure != nil && $0.failure?.kind != .quotaExceeded }.map {
            Self.number($0.key)
        }
        outbox.removeAll { decided.contains($0) }
        return .settled(MergeOutcome())
    }

    private static func record(_ number: Int) -> SyncRecord {
        SyncRecord(key: RecordKey(type: .deviceSettings, name: "\(number)"))
    }

    private static func number(_ record: SyncRecord) -> Int { number(record.key) }
    private static func number(_ key: RecordKey) -> Int { Int(key.name) ?? 0 }
}
