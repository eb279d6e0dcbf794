/// A Bluetooth adapter in `GET /v1/status` and in `meterctl status --json`.
package struct AdapterStatus: Codable, Hashable, Sendable {
    /// The adapter's permanent address, or the host of a proxy that was never reached.
    package var address: String
    /// The kernel's name such as `hci0`, or a proxy's host; null while the adapter is gone.
    @NullCodable package var name: String?
    package var state: State
    /// Start of `state`, RFC 3339.
    package var since: String
    /// Open and opening links. `links_max` is the assumed maximum.
    package var links: Int
    package var links_max: Int
    /// Devices of any kind detected in the last minute. After a long time at 0, recovery begins.
    package var heard: Int
    /// Possible meters received in the last minute but not listed (`GET /v1/scan/others`). A device without room in
    /// meterd's table counts once for each report.
    package var dropped: Int
    /// Recovery steps since meterd started.
    package var recoveries: Int
    /// Owner of the running Bluetooth search; null if none runs.
    @NullCodable package var discovery: Discovery?
    package var discovery_ms: Int64
    @NullCodable package var pairing: PairingStatus?
    /// Set only for a Bluetooth proxy.
    @NullCodable package var proxy: ProxyStatus?
    /// Fault and remedy; null if all is well.
    @NullCodable package var error: String?

    package enum Discovery: String, Codable, Sendable, CaseIterable {
        case own
        /// Another program searches; the adapter also receives its results.
        case another
    }

    package enum State: String, Codable, Sendable, CaseIterable {
        case searching
        /// Between two searches, or during the setup of a link. Also while every wanted meter is linked, to keep the
        /// radio band free for Wi-Fi and other programs.
        case idle
        case starting
        case recovering
        /// Switched off through rfkill or the system's settings.
        case blocked
        /// Every remedy failed; `error` names the necessary action.
        case failed
        /// meterd lacks a permission, which `error` names.
        case forbidden
        /// Present earlier, now missing.
        case gone
    }

    package init(
        address: String, name: String?, state: State, since: String, links: Int = 0, links_max: Int = 0, heard: Int = 0,
        dropped: Int = 0, recoveries: Int = 0, discovery: Discovery? = nil, discovery_ms: Int64 = 0,
        pairing: PairingStatus? = nil, proxy: ProxyStatus? = nil, error: String? = nil
    ) {
        self.address = address
        self.name = name
        self.state = state
        self.since = since
        self.links = links
        self.links_max = links_max
        self.heard = heard
        self.dropped = dropped
        self.recoveries = recoveries
        self.discovery = discovery
        self.discovery_ms = discovery_ms
        self.pairing = pairing
        self.proxy = proxy
        self.error = error
    }
}
