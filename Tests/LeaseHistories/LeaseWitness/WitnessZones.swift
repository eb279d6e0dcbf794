package import Domain

/// The zones of the runs that record histories.
package enum WitnessZones {
    /// The shortest terms that the rules allow, under both policies.
    package static let all = [
        (name: "home", terms: LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(4), policy: .keep)),
        (name: "lab", terms: LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(4), policy: .strict)),
    ]

    /// A zone whose policy changes while its hosts run; this is the one that it begins with.
    package static let changing = (
        name: "mixed", terms: LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(4), policy: .keep)
    )

    /// How many leases each may ever have, where meters are invented: hosts reach it, and their share of a quarter, within seconds.
    package static let leaseLimit = 24
}
