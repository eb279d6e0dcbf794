import LeaseCore
import LeaseWitness
import LinuxIO
import MeterModel
import SimulatedCloud

/// Whether a run kept the rules (Docs/Chaos.md names them).
struct Judge {
    var journal = JournalReader()
    /// When the store was put back to a snapshot, on the boot-time clock; nil: it was not.
    var restoredAt: MonotonicTime?
    /// Whether hosts were asked in the end what they have.
    var hasEnd = true
    private(set) var figures = HistoryFigures()

    /// - Returns: what is wrong.
    mutating func complaints() -> [String] {
        var found = journal.surprises.prefix(3).map { "an answer that no fault explains: \($0)" }
        for zone in WitnessZones.all {
            let all = journal.operations[zone.name] ?? []
            // A call that began before may have been answered after it.
            let before = all.filter { operation in restoredAt.map { operation.returnedAt < $0 } ?? true }
            let history = LeaseHistory(terms: zone.terms, now: { LinuxClock.now })
            history.add(before)
            figures = figures + history.figures
            if let complaint = history.complaint() { found.append("\(zone.name): \(complaint)") }
            found += tokensUsedTwice(all, zone.name)
            if let restoredAt { found += afterRestore(all.filter { $0.returnedAt >= restoredAt }, before, zone.name) }
        }
        found += twoAtOneMeter()
        if hasEnd { found += lostSettings() + differences() }
        return found
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
    private func afterRestore(
        _ after: [LeaseOperation], _ before: [LeaseOperation], _ zone: String
    ) -> [String] {
        var greatest: [String: FencingToken] = [:]
        for case let (meter, .granted(token)) in before.map({ ($0.meter, $0.outcome) }) {
            greatest[meter] = max(greatest[meter] ?? token, token)
        }
        for operation in after {
            guard case .granted(let token) = operation.outcome, let restoredAt else { continue }
            if operation.returnedAt < restoredAt + LeaseTerms.timeToLiveRange.upperBound {
                return ["\(zone): \(operation.meter) was given away right after a restore"]
            }
            if let last = greatest[operation.meter], token <= last {
                return ["\(zone): \(operation.meter) got the token \(token.rawValue) after \(last.rawValue)"]
            }
        }
        return []
    }

    /// Under `strict`: whoever speaks with a meter has a token that nobody before had a greater one than.
    private func twoAtOneMeter() -> [String] {
        for (zone, uses) in journal.uses {
            var last: [String: JournalReader.Use] = [:]
            for use in uses.sorted(by: { $0.time < $1.time }) {
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
        func lost(_ kept: [String: Int64], _ who: String) -> [String] {
            let missing = kept.filter { $0.key.contains("usb:0485:0001:") && journal.found[$0.key] != $0.value }
            guard let first = missing.keys.min() else { return [] }
            return ["\(missing.count) of \(kept.count) settings that \(who) are lost, one is \(first)"]
        }
        return lost(journal.acknowledged, "the cloud acknowledged") + lost(journal.written, "hosts wrote")
    }

    /// All hosts of a zone have the same in the end.
    private func differences() -> [String] {
        WitnessZones.all.compactMap { zone in
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
            ("written", journal.written.count), ("acknowledged", journal.acknowledged.count),
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
