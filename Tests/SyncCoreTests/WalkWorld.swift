import MeterModel
import SettingsCore
import SyncCore

/// The smallest cloud and store that a session can be walked through: numbers for changes, a list for the outbox.
struct WalkWorld {
    /// How many changes each type has in the cloud. A token is a number of them.
    var cloud: [RecordType: Int] = [:]
    /// How many of them are stored here.
    var stored: [RecordType: Int] = [:]
    var outbox: [Int] = []
    /// In the order in which the cloud took them.
    var told: [Int] = []
    var parked: [Int] = []
    /// The cloud refuses any batch with one of these.
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

    /// A backup from before is the cloud's store now: it lacks what it was told.
    mutating func restore() {
        epoch += 1
        told = []
        cloud = cloud.mapValues { $0 / 2 }
    }

    var isConverged: Bool {
        outbox.isEmpty && RecordType.known.allSatisfy { stored[$0, default: 0] == cloud[$0, default: 0] }
            && adopted == epoch
    }

    /// Does what a cloud and a store would do.
    mutating func perform(_ operation: SyncOperation, pageMax: Int, at now: MonotonicTime) -> SyncEvent {
        switch operation {
        case .readProgress:
            return .progressRead(
                SyncProgress(
                    epoch: adopted.map { "\($0)" }, zone: "zone home", zoneName: "home",
                    tokens: stored.mapValues { "\($0)" }, refetching: refetching,
                    pending: outbox.count, parked: parked.count))
        case .checkAccount: return .accountChecked(.home(epoch: "\(epoch)"), .exact(at: now))
        case .createZone: return .zoneCreated
        case .adopt(let zone, _):
            adopted = Int(zone.epoch)
            stored = [:]
            refetching = []
            expired = []
            outbox = Array(Set(outbox).union(1..<(nextRecord + 1)).subtracting(parked)).sorted()
            return .adopted
        case .correct: return .corrected
        case .readBatch(let recordsMax, _):
            let names = outbox.prefix(recordsMax)
            return .batchRead(names.isEmpty ? nil : OutboxBatch(records: names.map(Self.record)))
        case .push(let batch): return push(batch, at: now)
        case .settle(_, let outcome): return settle(outcome)
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

    private func fetch(_ type: RecordType, _ since: String?, _ limit: Int) -> SyncEvent {
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

    private mutating func push(_ batch: OutboxBatch, at now: MonotonicTime) -> SyncEvent {
        let numbers = batch.records.map(Self.number)
        guard poison.isDisjoint(with: numbers) else {
            return .cloudFailed(SyncFailure(.limitExceeded, "too large"))
        }
        told += numbers.filter { !told.contains($0) }
        return .pushed(.taking(batch), .exact(at: now))
    }

    private mutating func settle(_ outcome: PushOutcome) -> SyncEvent {
        let decided = Set(outcome.results.map { Self.number($0.key) })
        parked += outcome.results.filter { $0.failure != nil }.map { Self.number($0.key) }
        outbox.removeAll { decided.contains($0) }
        return .settled(MergeOutcome())
    }

    private static func record(_ number: Int) -> Record {
        Record(key: RecordKey(type: .deviceSettings, name: "\(number)"))
    }

    private static func number(_ record: Record) -> Int { number(record.key) }
    private static func number(_ key: RecordKey) -> Int { Int(key.name) ?? 0 }
}
