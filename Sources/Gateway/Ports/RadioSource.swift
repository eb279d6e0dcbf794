package import Domain
package import GatewayAPI

/// This host's radios: they hear meters, and have a state of health.
package protocol RadioSource: SightingSource {
    /// Every adapter that is there, or was there and is missing, by address.
    func adapters() async -> [AdapterStatus]
    /// What was heard lately but not reported, with the reason for each; what looks like a meter comes first.
    func others() async -> [ScanOther]
    /// For a maintainer: adapters, raw advertisements of meters, and what the kernel was asked.
    func support() async -> SupportRadios
    /// From now on the search follows what meters need. `demand` is called on the loop, now and then, and `remedied` for each
    /// step that is taken to bring an adapter back. `changed` is called when `adapters` may differ in more than its counts.
    func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void) async
    /// What meters need has changed, and should be read now rather than at the next regular time.
    func demandChanged() async
    /// A person is looking for meters. To be called again for as long as that lasts.
    func sought() async
}

/// Something that was done to bring an adapter back.
package struct AdapterRemedy: Hashable, Sendable {
    package var adapter: MACAddress
    /// What was done, for people.
    package var words: String
    /// Why, for people.
    package var cause: String

    package init(adapter: MACAddress, words: String, cause: String) {
        self.adapter = adapter
        self.words = words
        self.cause = cause
    }
}
