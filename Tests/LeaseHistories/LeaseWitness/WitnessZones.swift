package import LeaseCore

/// The zones of the runs that record histories.
package enum WitnessZones {
    /// The shortest terms that the rules allow, under both policies.
    package static let all = [
        (name: "home", terms: LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(4), policy: .keep)),
        (name: "lab", terms: LeaseTerms(timeToLive: .seconds(30), lockDelay: .seconds(4), policy: .strict)),
    ]
}
