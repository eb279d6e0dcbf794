import Domain

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
    /// The cloud judges change tokens by epoch and sequence alone, as before there were timelines.
    case noTimeline
    /// The cloud gives out tokens without heeding what hosts have seen.
    case ignoresClaims
    /// The cloud renews a lease that its store, which went back, does not know.
    case renewsForgotten
    /// The host counts what the cloud acknowledged as told for good, though the cloud's store may go back.
    case forgetsUnfetched
    /// The host drops what a refetch does not list, as an old host does.
    case dropsUnlisted
    /// The host's deletions are in force in the next zone too.
    case carriesDeletions
    /// The host sets its own settings aside when it joins another zone.
    case leavesOwnBehind
    /// A stricter policy of the zone does not reach those who renew.
    case renewalKeepsPolicy
    /// The cloud remembers its last grant of a meter alone.
    case forgetsRequests
    /// An intent to take over lasts until the cloud is there again.
    case wishesForEver
    /// The host forgets deletions by whatever its calendar says.
    case trustsCalendar
    /// The cloud forgets deletions by whatever its calendar says.
    case purgesByCalendar
    /// A heartbeat whose answer is lost is not repeated before the next is due.
    case heartbeatOnce
    /// Who watches a meter shows whatever comes.
    case showsOlderTokens
    /// A holder sends what it measured under a later token.
    case sendsUnderLaterToken
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

    /// One of these in a run at most: what each leaves is judged by itself.
    enum Upheaval {
        case none
        /// A backup of the cloud is restored, with the command for it.
        case restore
        /// A copy of the cloud's store is put back as it is.
        case storeGoesBack
        /// A host leaves for another zone of the cloud, and comes back or not.
        case journey
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
    /// What befalls the store, or a host's membership.
    var upheaval: Upheaval
    /// The zone is made `strict` at some time.
    var changesPolicy: Bool
    /// Older tombstones are purged.
    var tombstoneAge: TrueTime
    var bug: PlantedBug?

    init(seed: UInt64, bug: PlantedBug?, rng: inout SimulationRNG) {
        self.bug = bug
        kind = rng.happens(onceIn: 6) ? .oneLoss : .storm
        let isCalm = kind == .oneLoss
        let timeToLive = rng.pick([30, 60, 120] as [Int64]) ?? 120
        terms = LeaseTerms(
            timeToLive: .seconds(timeToLive), lockDelay: .seconds(timeToLive) / 8,
            policy: rng.happens(permille: 700) ? .strict : .keep)
        hosts = 2 + rng.number(below: 3)
        meters = 1 + rng.number(below: 2)
        length = TrueTime(12 + rng.number(below: 30)) * .minute
        // The widest that the rules stand: 1.1 to 0.9 is less than 135 s to 108 s.
        let drift = isCalm ? 5 : rng.pick([0, 2, 20, 100]) ?? 0
        serverRate = Self.rate(drift, &rng)
        hostRates = []
        wallErrors = []
        wallTicks = []
        for _ in 0..<hosts {
            hostRates.append(Self.rate(drift, &rng))
            wallErrors.append(Self.wallError(&rng))
            wallTicks.append(rng.happens(onceIn: 5) ? 1000 : 1)
        }
        lossPermille = isCalm ? 150 : rng.pick([0, 5, 30, 100, 250]) ?? 0
        doublePermille = isCalm ? 0 : rng.pick([0, 10, 80]) ?? 0
        slowPermille = isCalm ? 0 : rng.pick([0, 10, 100]) ?? 0
        slowest = TrueTime(rng.pick([2, 8, 30]) ?? 2) * .second
        faultGap = TrueTime(rng.pick([40, 120, 400]) ?? 120) * .second
        userGap = TrueTime(rng.pick([6, 20, 60]) ?? 20) * .second
        hasTwin = !isCalm && rng.happens(onceIn: 8)
        names = hasTwin ? 1 : rng.pick([1, 5]) ?? 5
        upheaval = rng.pick([.none, .restore, .storeGoesBack, .journey]) ?? .none
        // It does harm only where the store goes back, which befalls too few of the first seeds by itself.
        if bug == .forgetsUnfetched { upheaval = .storeGoesBack }
        tombstoneAge = TrueTime(rng.pick([2, 6, 15]) ?? 6) * .minute
        changesPolicy = terms.policy == .keep && !isCalm
        if !isCalm, rng.happens(onceIn: 5) { goToTheEdge(&rng) }
        if hasTwin {
            // Two hosts with one id cannot both be told from each other in another zone.
            if upheaval == .journey { upheaval = .none }
            hostRates[1] = hostRates[0]
            wallErrors[1] = wallErrors[0]
            (wallTicks[0], wallTicks[1]) = (5000, 5000)
            // Often enough that both write one property within a tick.
            userGap = 6 * .second
        }
    }

    private mutating func goToTheEdge(_ rng: inout SimulationRNG) {
        kind = .edge
        let timeToLive = rng.pick([30, 60] as [Int64]) ?? 30
        terms = LeaseTerms(
            timeToLive: .seconds(timeToLive), lockDelay: .seconds(timeToLive) / 8, policy: .strict)
        meters = 1
        serverRate = 1100
        hostRates = hostRates.map { _ in 900 }
        (slowPermille, slowest) = (300, 9 * .second)
        faultGap = 30 * .second
        userGap = 10 * .second
    }

    private static func rate(_ drift: Int, _ rng: inout SimulationRNG) -> Int64 {
        drift == 0 ? 1000 : Int64(1000 - drift + rng.number(below: 2 * drift + 1))
    }

    /// Seventy-three years: from 2026 to 2099.
    static let to2099: Int64 = 73 * 365 * 86_400_000

    static func wallError(_ rng: inout SimulationRNG) -> Int64 {
        switch rng.number(below: 8) {
        case 0: -Int64(rng.number(below: 60)) * 365 * 86_400_000
        case 1: Int64(rng.number(below: 30)) * 365 * 86_400_000
        case 2: Int64(rng.number(below: 240_000)) - 120_000
        default: Int64(rng.number(below: 4000)) - 2000
        }
    }
}
