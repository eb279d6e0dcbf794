import LeaseWitness

/// A fault that is put in before or behind the program's parts: the campaign has to find each.
package enum ProgramBug: String, CaseIterable, Sendable {
    /// The engine answers, and does not keep, one decision in five.
    case forgetsDecisions
    /// It lets a lease run out 20 s too early.
    case expiresEarly
    /// It renews what another host has.
    case renewsForOthers
    /// It answers, and does not keep, one change of a record in five.
    case forgetsRecords
    /// A host's store keeps how far it has read, and not the last record of a page.
    case losesLastOfPage
    /// A session goes on with its meter after the hard stop.
    case ignoresHardStop
    /// A session's channel stays open after the permission was withdrawn.
    case ignoresWithdrawal
    /// The engine decides a repeated request anew. It takes longest to find, and is looked for first.
    case decidesAnew

    var inEngine: PlantedFault? {
        switch self {
        case .forgetsDecisions: .forgetsDecisions
        case .expiresEarly: .expiresEarly
        case .renewsForOthers: .renewsForOthers
        case .forgetsRecords: .forgetsRecords
        case .decidesAnew: .decidesAnew
        case .losesLastOfPage, .ignoresHardStop, .ignoresWithdrawal: nil
        }
    }
}
