import CoreTestKit
import Domain

/// What may happen in a schedule. A family of schedules is one value of these.
struct Trouble: OptionSet, Hashable, Sendable {
    let rawValue: Int

    /// People delete records and write to them again.
    static let deletions = Trouble(rawValue: 1)
    /// Calendars that step by whole seconds, so that many writes share a time.
    static let coarseClocks = Trouble(rawValue: 2)
    /// Calendars that are off by some seconds, or years behind.
    static let skewedClocks = Trouble(rawValue: 4)
    /// One calendar is years ahead.
    static let yearsAhead = Trouble(rawValue: 8)
    /// Counters that are about to overflow.
    static let counterOverflow = Trouble(rawValue: 16)
    /// Two hosts with the same id and the same past.
    static let clone = Trouble(rawValue: 32)
    /// The cloud is restored from a backup.
    static let restore = Trouble(rawValue: 64)
    /// The cloud forgets its tombstones, even while hosts are away for longer.
    static let purge = Trouble(rawValue: 128)
    /// Hosts know meters under several forms of their names, and are upgraded while offline.
    static let olderNames = Trouble(rawValue: 256)
    /// As before, but one host is never upgraded.
    static let olderHost = Trouble(rawValue: 512)
}

/// One random history of some hosts and their cloud, and what must hold at its end.
struct Schedule {
    /// Something a person did, and what became of its stamp.
    struct Edit {
        var replica: Int
        var pending: ModelReplica.Pending
        /// Whether the host that did it was of an older version.
        var wasOlder: Bool
    }

    enum Message {
        case push(from: Int, [SyncRecord], generation: Int)
        case answer(to: Int, [ModelCloud.Answer], cloudTime: UInt64, epoch: Int, generation: Int)
        case page(to: Int, ModelCloud.Page, generation: Int)
    }

    let trouble: Trouble
    var rng: SeededRNG
    /// True time, in milliseconds since 1970.
    var now: UInt64 = 1_795_000_000_000
    var cloud: ModelCloud
    var backup: ModelCloud?
    var replicas: [ModelReplica] = []
    var network: [Message] = []
    var edits: [Edit] = []
    /// Number of edits of an older host that the rebuild of others hid (`isHiddenByFold`).
    var hiddenByFold = 0
    /// The first thing that went wrong.
    var failure: String?
    private var nextValue: Int64 = 0

    init(seed: UInt64, trouble: Trouble, rule: MergeRule = .real) {
        self.trouble = trouble
        rng = SeededRNG(seed: seed &+ UInt64(trouble.rawValue) << 40)
        cloud = ModelCloud(rule: rule)
        for index in 0..<3 + rng.below(6) {
            let host = HostID(using: &rng)
            var replica = ModelReplica(index: index, rule: rule, clock: HybridClock(host: host))
            if trouble.contains(.coarseClocks) { replica.resolution = 1000 }
            if trouble.contains(.skewedClocks) { replica.skew = rng.pick([0, 3000, -3000, 50_000, -200_000_000_000]) }
            if trouble.contains(.counterOverflow) {
                replica.clock = HybridClock(host: host, milliseconds: now, counter: .max - UInt16(rng.below(4)))
                replica.skew = -1_000_000
            }
            replica.isOlder = trouble.contains(.olderNames)
            replicas.append(replica)
        }
        if trouble.contains(.yearsAhead) { replicas[0].skew = 400_000_000_000 }
        if trouble.contains(.clone) {
            let original = replicas[1].clock.host
            replicas[2].clock = HybridClock(host: original)
            replicas[2].skew = replicas[1].skew
        }
    }

    /// - Returns: what is wrong, if anything.
    mutating func run() -> String? {
        if trouble.contains(.olderNames) { runOlderVersions() }
        if trouble.contains(.purge) { runHalfAYear() }
        for _ in 0..<10 + rng.below(20) { step() }
        // Half of them start from a common state, and then diverge again.
        if rng.chance(50) { settle() }
        for _ in 0..<10 + rng.below(20) { step() }
        settle()
        checkEnd()
        return failure
    }

    /// A past under several names that all hosts know, and then edits while the hosts cannot reach each other.
    private mutating func runOlderVersions() {
        for _ in 0..<6 { step() }
        settle()
        for _ in 0..<8 { edit(rng.below(replicas.count)) }
        let last = trouble.contains(.olderHost) ? replicas.count - 1 : replicas.count
        for index in 0..<last {
            replicas[index].isOlder = false
            if rng.chance(50) { while replicas[index].rebuildStep() {} }
        }
    }

    /// Hosts that know the same, one of which is then away for longer than tombstones live.
    private mutating func runHalfAYear() {
        for _ in 0..<6 { edit(rng.below(replicas.count)) }
        settle()
        let away = replicas.count - 1
        for _ in 0..<10 {
            let index = rng.below(away)
            edit(index)
            if rng.chance(50) { exchangeAll(index) }
            if rng.chance(20) { edit(away) }
        }
        cloud.purge()
    }

    // MARK: Events

    private mutating func step() {
        now += UInt64(rng.pick([0, 0, 1, 200, 1500, 30_000]))
        let index = rng.below(replicas.count)
        switch rng.below(100) {
        case 0..<32: edit(index)
        case 32..<50: push(index)
        case 50..<66: fetch(index)
        case 66..<92: deliver()
        case 92..<94: if !replicas[index].isOlder { _ = replicas[index].rebuildStep() }
        default: disturb()
        }
    }

    private mutating func disturb() {
        if trouble.contains(.restore) {
            if let backup, rng.chance(60) { cloud.restore(backup) } else { backup = cloud }
        }
        if trouble.contains(.purge) { cloud.purge() }
        if trouble.contains(.skewedClocks) {
            replicas[rng.below(replicas.count)].skew = Int64(rng.below(100_000)) - 50_000
        }
    }

    private static let names = ["AA:BB:CC:DD:EE:FF", "aabbccddeeff", "aa-bb-cc-dd-ee-ff"]

    private mutating func edit(_ index: Int) {
        let name =
            trouble.contains(.olderNames) ? rng.pick(Self.names) : rng.pick([Self.names[0], "02:00:00:00:00:01"])
        let key = RecordKey(type: .deviceSettings, name: name)
        let wasOlder = replicas[index].isOlder
        if trouble.contains(.deletions), rng.chance(trouble.contains(.purge) ? 45 : 25) {
            guard let pending = replicas[index].delete(key, at: now) else { return }
            edits.append(Edit(replica: index, pending: pending, wasOlder: wasOlder))
            return
        }
        nextValue += 1
        // Few values, so that equal ones are written again too, unless a tie must show.
        let value = trouble.contains(.clone) ? nextValue : nextValue % 5
        let property = rng.pick(["name", "brightness"])
        let pending = replicas[index].write(value, to: property, of: key, at: now)
        edits.append(Edit(replica: index, pending: pending, wasOlder: wasOlder))
        guard replicas[index].rule == .real else { return }
        // A person sees what they set, whatever they saw before.
        if replicas[index].records[pending.key]?.properties[property]?.stamp != pending.stamp {
            fail("an edit of host \(index) lost to what was there: \(pending)")
        }
    }

    private mutating func push(_ index: Int) {
        let batch = replicas[index].batch(recordsMax: 1 + rng.below(3))
        guard !batch.isEmpty else { return }
        network.append(.push(from: index, batch, generation: replicas[index].generation))
    }

    private mutating func fetch(_ index: Int) {
        guard let page = cloud.changes(since: replicas[index].token, limit: 1 + rng.below(3)) else {
            replicas[index].beginRefetch()
            return
        }
        network.append(.page(to: index, page, generation: replicas[index].generation))
    }

    /// Delivers any message: lost, twice, or out of order.
    private mutating func deliver() {
        guard !network.isEmpty else { return }
        let index = rng.below(network.count)
        let message = network[index]
        let fate = rng.below(10)
        if fate != 0 { hand(over: message) }
        if fate != 1 { network.remove(at: index) }
    }

    private mutating func hand(over message: Message) {
        switch message {
        case .push(let from, let records, let generation):
            let answers = cloud.modify(records, now: now)
            network.append(
                .answer(to: from, answers, cloudTime: now, epoch: cloud.epoch, generation: generation))
        case .answer(let to, let answers, let cloudTime, let epoch, let generation):
            guard epoch == replicas[to].epoch, generation == replicas[to].generation else { return }
            for (pending, stamp) in replicas[to].settle(answers, cloudTime: cloudTime, at: now) {
                for index in edits.indices where edits[index].replica == to && edits[index].pending == pending {
                    edits[index].pending.stamp = stamp
                }
            }
        case .page(let to, let page, let generation):
            guard generation == replicas[to].generation else { return }
            replicas[to].apply(page, inAnyOrder: trouble.isDisjoint(with: [.purge, .restore]))
        }
    }

    // MARK: The end

    /// The network is good again, and everybody pushes and reads until nothing is left.
    private mutating func settle() {
        network = []
        for _ in 0..<30 {
            let before = (cloud.sequence, cloud.epoch)
            for index in replicas.indices { exchangeAll(index) }
            let isQuiet = replicas.allSatisfy {
                $0.outbox.isEmpty && $0.token >= cloud.sequence && $0.epoch == cloud.epoch
            }
            if isQuiet, before == (cloud.sequence, cloud.epoch) { return }
        }
        fail("the hosts never come to rest")
    }

    private mutating func exchangeAll(_ index: Int) {
        if !replicas[index].isOlder { while replicas[index].rebuildStep() {} }
        for _ in 0..<60 {
            let batch = replicas[index].batch(recordsMax: 400)
            if !batch.isEmpty {
                hand(over: .push(from: index, batch, generation: replicas[index].generation))
                if let answer = network.popLast() { hand(over: answer) }
            }
            guard let page = cloud.changes(since: replicas[index].token, limit: 400) else {
                replicas[index].beginRefetch()
                continue
            }
            let (token, epoch) = (replicas[index].token, replicas[index].epoch)
            hand(over: .page(to: index, page, generation: replicas[index].generation))
            let didMove = (token, epoch) != (replicas[index].token, replicas[index].epoch)
            if replicas[index].outbox.isEmpty, !didMove, replicas[index].seen == nil { return }
        }
        fail("host \(index) never comes to rest")
    }

    mutating func fail(_ what: String) { failure = failure ?? what }
}
