import LeaseCore
import MeterModel

/// A fault in the parts under test, put in on purpose: the simulation has to find each.
package enum PlantedBug: String, CaseIterable, Sendable {
    /// The authority gives a lease to another host as soon as its time to live is over.
    case noLockDelay
    /// The authority renews for the last holder although another has acquired since.
    case renewalAfterLoss
    /// The authority frees a lease whoever asks.
    case releaseOfAnother
    /// A merge takes the register that came when the stamps are equal.
    case mergeTakesEqual
    /// The host stores how far it has read before what it has read.
    case tokenBeforePage
    /// The host counts its lease from when the answer came.
    case countsFromReceipt
    /// The authority forgets its tokens when a backup is restored.
    case tokensNotRaised
    /// The host settles whatever waits for a record, also what was written since it was sent, and does not tell again
    /// what the cloud turns out to lack. (The first alone is healed by the second.)
    case settlesUnsent
    /// The host does not tell again of a deletion that the cloud has forgotten.
    case neverTellsAgain
    /// A heartbeat whose answer is lost is not repeated before the next is due.
    case heartbeatOnce
}

/// What a seed stands for: who takes part and what befalls them.
struct Scenario {
    enum Kind {
        /// Everything may happen.
        case storm
        /// One message may be lost in each heartbeat, and nothing else happens: no lease may be lost.
        case oneLoss
        /// A storm under `strict` with clocks as far apart as the rules stand it and answers that take long; hosts are
        /// often cut off while another waits for their meter.
        case edge
    }

    var kind: Kind
    var terms: LeaseTerms
    var hosts: Int
    var meters: Int
    /// True time until everything is healed.
    var length: TrueTime
    var serverRate: Int64
    var hostRates: [Int64]
    var wallErrors: [Int64]
    var wallTicks: [Int64]
    var lossPermille: UInt64
    var doublePermille: UInt64
    var slowPermille: UInt64
    var slowest: TrueTime
    /// Between faults, on average.
    var faultGap: TrueTime
    /// Between a host's user's wishes, on average.
    var userGap: TrueTime
    /// The second host is a copy of the first, clock and all, and stamps with its id.
    var hasTwin: Bool
    /// Records of each type that are written to.
    var names: Int
    var mayRestore: Bool
    /// Older tombstones are purged.
    var tombstoneAge: TrueTime
    var bug: PlantedBug?

    init(seed: UInt64, bug: PlantedBug?, dice: inout SeededDice) {
        self.bug = bug
        kind = dice.happens(onceIn: 6) ? .oneLoss : .storm
        let isCalm = kind == .oneLoss
        let timeToLive = dice.pick([30, 60, 120] as [Int64]) ?? 120
        terms = LeaseTerms(
            timeToLive: .seconds(timeToLive), lockDelay: .seconds(timeToLive) / 8,
            policy: dice.happens(permille: 700) ? .strict : .keep)
        hosts = 2 + dice.number(below: 3)
        meters = 1 + dice.number(below: 2)
        length = TrueTime(12 + dice.number(below: 30)) * .minute
        // The widest that the rules stand: 1.1 to 0.9 is less than 135 s to 108 s.
        let drift = isCalm ? 5 : dice.pick([0, 2, 20, 100]) ?? 0
        serverRate = Self.rate(drift, &dice)
        hostRates = []
        wallErrors = []
        wallTicks = []
        for _ in 0..<hosts {
            hostRates.append(Self.rate(drift, &dice))
            wallErrors.append(Self.wallError(&dice))
            wallTicks.append(dice.happens(onceIn: 5) ? 1000 : 1)
        }
        lossPermille = isCalm ? 150 : dice.pick([0, 5, 30, 100, 250]) ?? 0
        doublePermille = isCalm ? 0 : dice.pick([0, 10, 80]) ?? 0
        slowPermille = isCalm ? 0 : dice.pick([0, 10, 100]) ?? 0
        slowest = TrueTime(dice.pick([2, 8, 30]) ?? 2) * .second
        faultGap = TrueTime(dice.pick([40, 120, 400]) ?? 120) * .second
        userGap = TrueTime(dice.pick([6, 20, 60]) ?? 20) * .second
        hasTwin = !isCalm && dice.happens(onceIn: 8)
        names = hasTwin ? 1 : dice.pick([1, 5]) ?? 5
        mayRestore = dice.happens(onceIn: 4)
        tombstoneAge = TrueTime(dice.pick([2, 6, 15]) ?? 6) * .minute
        if !isCalm, dice.happens(onceIn: 5) { goToTheEdge(&dice) }
        if hasTwin {
            hostRates[1] = hostRates[0]
            wallErrors[1] = wallErrors[0]
            (wallTicks[0], wallTicks[1]) = (5000, 5000)
            // Often enough that both write one property within a tick.
            userGap = 6 * .second
        }
    }

    private mutating func goToTheEdge(_ dice: inout SeededDice) {
        kind = .edge
        let timeToLive = dice.pick([30, 60] as [Int64]) ?? 30
        terms = LeaseTerms(
            timeToLive: .seconds(timeToLive), lockDelay: .seconds(timeToLive) / 8, policy: .strict)
        meters = 1
        serverRate = 1100
        hostRates = hostRates.map { _ in 900 }
        (slowPermille, slowest) = (300, 9 * .second)
        faultGap = 30 * .second
        userGap = 10 * .second
    }

    private static func rate(_ drift: Int, _ dice: inout SeededDice) -> Int64 {
        drift == 0 ? 1000 : Int64(1000 - drift + dice.number(below: 2 * drift + 1))
    }

    static func wallError(_ dice: inout SeededDice) -> Int64 {
        switch dice.number(below: 8) {
        case 0: -Int64(dice.number(below: 60)) * 365 * 86_400_000
        case 1: Int64(dice.number(below: 30)) * 365 * 86_400_000
        case 2: Int64(dice.number(below: 240_000)) - 120_000
        default: Int64(dice.number(below: 4000)) - 2000
        }
    }
}
