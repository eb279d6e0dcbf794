/// What happened in runs of the program, so that one in which nothing does is noticed.
package struct ProgramCoverage: Sendable {
    package enum Item: String, CaseIterable, Sendable {
        case runStrict, runKeep, runCalm
        case hostCrash, hostReboot, hostStop, hostPause, revocation
        case cloudCrash, cloudReboot, cloudPause, cut, oneWayCut, wallStep, rateChange
        case setting, deletion, takeover, queueing, linkBreak
        case grant, renewal, release, refusal, withdrawal, offer, hardStop, unanswered
        case restamped, converged, historyLinearizable
    }

    private var counts: [Item: Int] = [:]

    package init() {}

    package subscript(item: Item) -> Int { counts[item] ?? 0 }

    /// Those that never happened.
    package var missing: [Item] { Item.allCases.filter { self[$0] == 0 } }

    mutating func note(_ item: Item) { counts[item, default: 0] += 1 }

    package static func += (lhs: inout Self, rhs: Self) { lhs.counts.merge(rhs.counts, uniquingKeysWith: +) }
}
