import Domain
import LeaseWitness
import LinuxIO
import SimulatedCloud

/// Whether a run kept the rules (Docs/Proven.md names them).
struct Judge {
    static let zones = WitnessZones.all + [WitnessZones.changing]
    /// In the names of the records that one host writes; and of those that it writes while it is a guest in their zone.
    static let (ownProduct, guestProduct) = ("0001", "0003")

    var journal = JournalReader()
    /// When the store was put back to a snapshot without a word to the cloud, on the boot-time clock; nil: it was not.
    var wentBackAt: MonotonicTime?
    /// When that was done as Docs/Scale.md says, later; nil: it was not.
    var restoredAt: MonotonicTime?
    /// Whether hosts were asked in the end what they have.
    var hasEnd = true
    /// Whether zones had `WitnessZones.leaseLimit`.
    var isLimited = false
    private(set) var figures = HistoryFigures()

    /// - Returns: what is wrong.
    mutating func complaints() -> [String] {
        var found = journal.surprises.prefix(3).map { "an answer that no fault explains: \($0)" }
        for zone in Self.zones {
            let all = journal.operations[zone.name] ?? []
            let end = wentBackAt ?? restoredAt
            // A call that began before may have been answered after it.
            let before = all.filter { operation in end.map { operation.returnedAt < $0 } ?? true }
            let history = LeaseHistory(
                terms: zone.terms, policies: journal.policies[zone.name],
                leaseLimit: isLimited ? WitnessZones.leaseLimit : nil, now: { LinuxClock.now })
            history.add(before)
            figures = figures + history.figures
            if let complaint = history.complaint() { found.append("\(zone.name): \(complaint)") }
            found += tokensUsedTwice(all.filter { !isForgiven($0) }, zone.name)
            found += afterRestore(all, zone.name)
        }
        // Commands end before a store goes back, which may forget them.
        if let complaint = journal.commands.complaint { found.append(complaint) }
        found += twoAtOneMeter() + timelines()
        if hasEnd { found += lostSettings() + differences() }
        return found
    }

    /// A store that went back without a word may give a meter away that it forgot to be held, until the holder's next
    /// renewal (Docs/ThreatModel.md).
    private func isForgiven(_ operation: LeaseOperation) -> Bool {
        guard let wentBackAt, operation.returnedAt >= wentBackAt else { return false }
        return !isOfRestoredStore(operation)
    }

    /// Whether the store that was restored as it should be decided this. Its answer may have been on its way when the one before
    /// was killed; then its token tells: a restored store gives out unix seconds × 2^20 and more (rule 5), which is more than
    /// this for every day but the first twelve of 1970, and no other store of a run gives out a millionth of it.
    private func isOfRestoredStore(_ operation: LeaseOperation) -> Bool {
        guard let restoredAt else { return false }
        if operation.calledAt >= restoredAt { return true }
        guard operation.returnedAt >= restoredAt, case .granted(let token) = operation.outcome else { return false }
        return token.rawValue >= 1 << 40
    }

    /// Hosts are told that the store went back where it did, in each zone, and never where it did not.
    private func timelines() -> [String] {
        let wentBackAt = wentBackAt ?? MonotonicTime(sinceOrigin: .nanoseconds(Int64.max))
        if let early = journal.timelinesLost.first(where: { $0.time < wentBackAt }) {
            return ["\(early.zone): a host was told that the store went back, and it had not"]
        }
        guard self.wentBackAt != nil else { return [] }
        let told = Set(journal.timelinesLost.map(\.zone))
        return Self.zones.map(\.name).filter { !told.contains($0) }
            .map { "\($0): the store went back, and no host was told" }
    }

    /// One token, one session: over the whole run, whatever was restored.
    private func tokensUsedTwice(_ operations: [LeaseOperation], _ zone: String) -> [String] {
        var owners: [String: [FencingToken: SessionID]] = [:]
        for operation in operations {
            guard case .acquire(let acquire) = operation.request, case .granted(let token) = operation.outcome else {
                continue
            }
            if let owner = owners[operation.meter]?[token], owner != acquire.session {
                return ["\(zone): \(operation.meter) had the token \(token.rawValue) twice"]
            }
            owners[operation.meter, default: [:]][token] = acquire.session
        }
        return []
    }

    /// Nothing goes to anybody new for the greatest time to live and lock-delay, and tokens jump ahead.
    private func afterRestore(_ all: [LeaseOperation], _ zone: String) -> [String] {
        guard let restoredAt else { return [] }
        var greatest: [String: FencingToken] = [:]
        for operation in all where !isOfRestoredStore(operation) {
            guard case .granted(let token) = operation.outcome else { continue }
            greatest[operation.meter] = max(greatest[operation.meter] ?? token, token)
        }
        for operation in all where isOfRestoredStore(operation) {
            guard case .granted(let token) = operation.outcome else { continue }
            if operation.returnedAt < restoredAt + LeaseTerms.timeToLiveRange.upperBound {
                return [
                    "\(zone): \(operation.meter) was given away right after a restore at \(restoredAt.sinceOrigin): \(operation)"
                ]
            }
            if let last = greatest[operation.meter], token <= last {
                return ["\(zone): \(operation.meter) got the token \(token.rawValue) after \(last.rawValue)"]
            }
        }
        return []
    }

    /// Under `strict`: whoever speaks with a meter has a token that nobody before had a greater one than. In a zone that
    /// becomes strict, a lease is protected only from the renewal that carried it, which a use does not tell.
    private func twoAtOneMeter() -> [String] {
        let end = wentBackAt?.sinceOrigin.nanoseconds ?? .max
        for (zone, uses) in journal.uses where zone != WitnessZones.changing.name {
            var last: [String: JournalReader.Use] = [:]
            for use in uses.sorted(by: { $0.time < $1.time }) where use.time < end {
                if let other = last[use.meter],
                    use.token < other.token || (use.token == other.token && use.host != other.host)
                {
                    return [
                        "\(zone): \(use.host) used \(use.meter) with \(use.token) at \(use.time) ns, after "
                            + "\(other.host) had used it with \(other.token) at \(other.time) ns"
                    ]
                }
                last[use.meter] = use
            }
        }
        return []
    }

    private func lostSettings() -> [String] {
        func lost(_ kept: [String: Int64], _ products: [String], _ who: String) -> [String] {
            let missing = kept.filter { setting in
                journal.found[setting.key] != setting.value
                    && products.contains { setting.key.contains("usb:0485:\($0):") }
            }
            guard let first = missing.keys.min() else { return [] }
            return ["\(missing.count) of \(kept.count) settings that \(who) are lost, one is \(first)"]
        }
        return lost(journal.acknowledged, [Self.ownProduct, Self.guestProduct], "the cloud acknowledged")
            + lost(journal.written, [Self.ownProduct], "hosts wrote")
    }

    /// All hosts of a zone have the same in the end.
    private func differences() -> [String] {
        Self.zones.compactMap { zone in
            let ends = journal.ends[zone.name] ?? []
            guard ends.count > 1 else { return "\(zone.name): \(ends.count) hosts told what they have in the end" }
            let states = Dictionary(grouping: ends, by: \.state)
            guard states.count > 1 else { return nil }
            return "\(zone.name): hosts differ in the end: "
                + states.map { "\($0.value.count) have \($0.key)" }.sorted().joined(separator: "; ")
        }
    }
}

extension Judge {
    /// For the summary: names and numbers, one a line.
    var numbers: [(String, Int)] {
        [
            ("calls", figures.answered + figures.unknown), ("answered", figures.answered),
            ("unknown", figures.unknown), ("renewals", figures.renewals), ("releases", figures.releases),
            ("takeovers", figures.takeovers), ("revocations", figures.revocations),
            ("successions", figures.successions), ("expiries", figures.expiries),
            ("grants", grants), ("uses", journal.uses.values.reduce(0) { $0 + $1.count }),
            ("readings-seen", journal.seen), ("handovers-seen", journal.handovers), ("written", journal.written.count),
            ("acknowledged", journal.acknowledged.count),
            ("timelines", journal.timelinesLost.count), ("commands", journal.commands.count),
            ("repeats", journal.commands.repeats), ("late-repeats", journal.commands.lateRepeats),
            ("exhaustions", figures.exhaustions),
            ("hosts", journal.ends.values.reduce(0) { $0 + $1.count }),
        ]
    }

    private var grants: Int {
        var tokens: Set<String> = []
        for operation in journal.operations.values.joined() {
            if case .granted(let token) = operation.outcome { tokens.insert("\(operation.meter) \(token.rawValue)") }
        }
        return tokens.count
    }
}
