package import GatewayAPI
package import IOPorts

/// This host's radios: they hear meters, and have a state of health.
package protocol RadioSource: SightingSource {
    /// Every adapter that is there, or was there and is missing, by address.
    func adapters() async -> [AdapterStatus]
    /// What was heard lately but not reported, with the reason for each; what looks like a meter comes first.
    func others() async -> [ScanOther]
    /// For a maintainer: adapters, raw advertisements of meters, and what the kernel was asked.
    func support() async -> SupportRadios
    /// From now on the search follows what meters need. `demand` is called on the loop, now and then.
    func follow(_ demand: @escaping @Sendable () -> RadioDemand) async
    /// What meters need has changed, and should be read now rather than at the next regular time.
    func demandChanged() async
    /// A person is looking for meters. To be called again for as long as that lasts.
    func sought() async
}
