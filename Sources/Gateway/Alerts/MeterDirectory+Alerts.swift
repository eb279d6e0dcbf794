package import Domain
import GatewayAPI

extension MeterDirectory {
    /// Returns the meter for a new rule: a meter of this host or, for rules about the holder, any meter of the zone.
    package func watched(_ reference: String) async throws(GatewayError) -> MeterID { try await wanted(reference) }

    package func alertFacts(of meters: [MeterID]) -> [MeterID: AlertService.MeterFacts] {
        var facts: [MeterID: AlertService.MeterFacts] = [:]
        for meter in meters {
            let name = session(of: meter)?.assumeIsolated { $0.displayName }
            let lease = dependencies.gate?.lease(of: canonical(meter))
            facts[meter] = AlertService.MeterFacts(
                name: name ?? nil, holder: lease?.holder_id, holderName: lease?.holder)
        }
        return facts
    }
}
