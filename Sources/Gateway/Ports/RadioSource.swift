package import Domain
package import GatewayAPI

package protocol RadioSource: SightingSource {
    /// Returns every adapter, also missing ones, by address.
    func adapters() async -> [AdapterStatus]
    /// Returns devices received recently but not reported as meters, with the reason. Possible meters come first.
    func others() async -> [ScanOther]
    /// Returns adapters, raw advertisements of meters and kernel requests.
    func support() async -> SupportRadios
    /// Adjusts the search for meters to the demand. Calls `demand` regularly and `remedied` for each adapter repair,
    /// both on the loop. Calls `changed` when `adapters` may differ in more than its counts.
    func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void) async
    /// Reads the demand now rather than at the next regular time.
    func demandChanged() async
    /// Extends the search. Call it repeatedly while a user looks for meters.
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
