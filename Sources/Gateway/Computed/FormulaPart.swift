import Domain

/// The meter behind an operand of a formula.
struct FormulaPart: Sendable {
    /// Nil if no meter of this host has the name, or several have.
    var meter: MeterID?
    /// Maximum age of the meter's readings in the formula.
    var staleAfter = Duration.zero
    /// Reason why the meter has no data; nil while it has data.
    var lack: String?
}

extension MeterDirectory {
    /// Finds the meter of this host that a formula names by its id, its port or its exact name.
    func part(_ reference: String) -> FormulaPart {
        let names = names
        let byID = exactly(reference) ?? MeterReference.exactly(reference, among: names)
        let wanted = reference.lowercased()
        let found = byID.map { [$0] } ?? names.filter { $0.name?.lowercased() == wanted }.map(\.id)
        guard found.count < 2 else {
            return FormulaPart(lack: "\(reference.quoted) may mean \(found.map(\.description).joined(separator: ", "))")
        }
        guard let id = found.first, let session = meters.session(of: id) else {
            return FormulaPart(lack: "no meter here is called \(reference.quoted)")
        }
        return session.assumeIsolated { session in
            var part = FormulaPart(meter: id, staleAfter: session.machine.timing.staleAfter)
            if session.isComputed {
                part.lack = "\(reference.quoted) is computed itself"
            } else if session.machine.state != .dataAvailable {
                part.lack = "\(reference.quoted) is \(session.machine.state.rawValue)"
            }
            return part
        }
    }
}
