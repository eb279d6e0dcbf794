package import Domain
package import GatewayAPI

package protocol RadioSource: SightingSource {
    /// Returns every adapter, also missing ones, by address.
    func adapters() async -> [AdapterStatus]
    /// Returns devices heard lately but not reported, with the reason; possible meters come first.
    func others() async -> [ScanOther]
    /// Returns adapters, raw advertisements of meters and kernel requests.
    func support() async -> SupportRadios
    /// Makes the search follow the meters' needs. Calls `demand` now and then and `remedied` for each remedy, both on
    /// the loop; `changed` when `adapters` may differ in more than its counts.
    func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void) async
    /// Reads the demand now rather than at the next regular time.
    func demandChanged() async
    /// Called repeatedly while a user looks for meters.
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
