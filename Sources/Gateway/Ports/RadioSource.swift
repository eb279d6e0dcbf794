package import GatewayAPI
package import IOPorts

/// This host's radios: they hear meters, and have a health of their own.
package protocol RadioSource: SightingSource {
    /// Every adapter there is, or was and is missed, by address.
    func adapters() async -> [AdapterStatus]
    /// What was heard lately and is not reported, with the reason of each; what looks like a meter first.
    func others() async -> [ScanOther]
    /// For a maintainer: adapters, raw advertisements of meters, and what was asked of the kernel.
    func support() async -> SupportRadios
    /// From now on the search follows what meters need. `demand` is called on the loop, now and then.
    func follow(_ demand: @escaping @Sendable () -> RadioDemand) async
    /// What meters need has changed: it is looked at before long anyway.
    func demandChanged() async
    /// A person looks for meters just now. To be said again for as long as that lasts.
    func sought() async
}
