package import Domain
import GatewayAPI

/// Finds a meter by an id or MAC address in any form, a name, an unambiguous prefix of either, or a model with only one
/// meter (Docs/CommandLine.md#meters).
package enum MeterReference {
    /// - Parameter models: as shown to users.
    /// - Throws: `noSuchMeter` with a suggestion; `ambiguousMeter` with the candidates.
    package static func resolve(
        _ text: String, among meters: [(id: MeterID, name: String?)], models: [MeterID: String] = [:]
    ) throws(GatewayError) -> MeterID {
        let wanted = text.lowercased()
        if let exact = exactly(text, among: meters) { return exact }
        let named = meters.filter { $0.name?.lowercased() == wanted }
        let matches =
            if named.isEmpty {
                meters.filter { isPrefix(wanted, of: $0) || models[$0.id]?.lowercased() == wanted }
            } else { named }
        if matches.count == 1 { return matches[0].id }
        guard !matches.isEmpty else {
            throw GatewayError(
                .noSuchMeter, "no meter is called \(text.quoted)",
                next: (meters.map { $0.name ?? "\($0.id)" } + models.values.sorted())
                    .suggestion(for: text, "meterctl scan lists the meters that are there"))
        }
        let candidates = matches.map { meter in meter.name.map { "\(meter.id) (\($0))" } ?? "\(meter.id)" }.sorted()
        throw GatewayError(
            .ambiguousMeter, "\(text.quoted) may mean \(candidates.joined(separator: ", "))",
            next: "type more of the id or name")
    }

    package static func exactly(_ text: String, among meters: [(id: MeterID, name: String?)]) -> MeterID? {
        let (wanted, id) = (text.lowercased(), MeterID(text))
        return meters.first { $0.id == id || $0.id.description.lowercased() == wanted }?.id
    }

    private static func isPrefix(_ wanted: String, of meter: (id: MeterID, name: String?)) -> Bool {
        guard !wanted.isEmpty else { return false }
        if let name = meter.name, name.lowercased().hasPrefix(wanted) { return true }
        if meter.id.description.lowercased().hasPrefix(wanted) { return true }
        guard case .mac(let address) = meter.id else { return false }
        let digits = wanted.filter { $0 != ":" && $0 != "-" }
        return !digits.isEmpty && address.description.lowercased().filter { $0 != ":" }.hasPrefix(digits)
    }
}
