import Domain
import SimulatedCloud

/// What a seed stands for: who takes part and what befalls them.
struct ProgramScenario {
    /// Nothing happens but that one message is lost in each heartbeat: no lease may be lost.
    var isCalm: Bool
    var terms: LeaseTerms
    var hosts: Int
    var meters: Int
    /// True time until everything is healed.
    var length: TrueTime
    var cloudRate: Int64
    var hostRates: [Int64]
    /// Of the hosts' calendars, in milliseconds.
    var wallErrors: [Int64]
    var lossPermille: UInt64
    var doublePermille: UInt64
    var slowPermille: UInt64
    /// Between faults, on average.
    var faultGap: TrueTime
    /// Between the wishes of a host's user, on average.
    var userGap: TrueTime

    init(rng: inout SimulationRNG) {
        isCalm = rng.happens(onceIn: 6)
        let timeToLive = rng.pick([30, 60, 120] as [Int64]) ?? 30
        terms = LeaseTerms(
            timeToLive: .seconds(timeToLive), lockDelay: .seconds(timeToLive) / 8,
            policy: rng.happens(permille: 700) ? .strict : .keep)
        hosts = 2 + rng.number(below: 2)
        meters = 1 + rng.number(below: 2)
        length = TrueTime(6 + rng.number(below: 12)) * .minute
        // The widest that the rules stand: 1.1 to 0.9 is less than 135 s to 108 s.
        let drift = isCalm ? 5 : rng.pick([0, 20, 100]) ?? 0
        cloudRate = Self.rate(drift, &rng)
        (hostRates, wallErrors) = ([], [])
        for _ in 0..<hosts {
            hostRates.append(Self.rate(drift, &rng))
            wallErrors.append(Self.wallError(&rng))
        }
        lossPermille = isCalm ? 150 : rng.pick([0, 5, 30, 150]) ?? 0
        doublePermille = isCalm ? 0 : rng.pick([0, 10, 80, 400]) ?? 0
        slowPermille = isCalm ? 0 : rng.pick([0, 10, 100]) ?? 0
        faultGap = TrueTime(rng.pick([30, 60, 120]) ?? 60) * .second
        userGap = TrueTime(rng.pick([8, 20]) ?? 8) * .second
    }

    private static func rate(_ drift: Int, _ rng: inout SimulationRNG) -> Int64 {
        drift == 0 ? 1000 : Int64(1000 - drift + rng.number(below: 2 * drift + 1))
    }

    private static func wallError(_ rng: inout SimulationRNG) -> Int64 {
        switch rng.number(below: 8) {
        case 0: -Int64(rng.number(below: 20)) * 365 * 86_400_000
        case 1: Int64(rng.number(below: 20)) * 365 * 86_400_000
        case 2: Int64(rng.number(below: 240_000)) - 120_000
        default: Int64(rng.number(below: 4000)) - 2000
        }
    }
}
