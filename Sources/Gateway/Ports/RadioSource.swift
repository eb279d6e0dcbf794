package import Domain
package import GatewayAPI

package protocol RadioSource: SightingSource {
    /// Returns the adapters, including missing ones, sorted by MAC address.
    func adapters() async -> [AdapterStatus]
    /// Returns devices that the radios received recently but did not identify as meters. Possible meters come first.
    func others() async -> [ScanOther]
    /// Returns data for a support report: adapters, raw advertisements of meters and kernel requests.
    func support() async -> SupportRadios
    /// Adjusts the search for meters to the demand. Calls `demand` regularly and `remedied` for each adapter repair,
    /// both on the session loop. Calls `changed` when the result of `adapters`, apart from its counts, may have
    /// changed.
    func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void) async
    /// Calls `follow`'s `demand` immediately.
    func demandChanged() async
    /// Extends the search. Call repeatedly while a user looks for meters.
    func sought() async
}

package struct AdapterRemedy: Hashable, Sendable {
    package var adapter: MACAddress
    package var words: String
    package var cause: String

    package init(adapter: MACAddress, words: String, cause: String) {
        self.adapter = adapter
        self.words = words
        self.cause = cause
    }
}
