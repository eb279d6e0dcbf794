package import Domain
import GatewayAPI

/// What rules ask about meters.
extension MeterDirectory {
    /// The meter that a person wants to be told of: one of this host or, for its holder, any of the zone.
    package func watched(_ reference: String) async throws(GatewayError) -> MeterID { try await wanted(reference) }

    /// Names and holders as this host knows them.
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
