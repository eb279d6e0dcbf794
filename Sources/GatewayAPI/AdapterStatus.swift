/// A Bluetooth adapter in `GET /v1/status` and in `meterctl status --json`.
package struct AdapterStatus: Codable, Hashable, Sendable {
    /// The adapter's permanent address, or the host of a proxy that was never reached.
    package var address: String
    /// The kernel's name such as `hci0`, or a proxy's host; null while the adapter is gone.
    @NullCodable package var name: String?
    package var state: State
    /// Start of the present state, RFC 3339.
    package var since: String
    /// Number of open and opening links. `links_max` is the assumed maximum.
    package var links: Int
    package var links_max: Int
    /// Number of devices of any kind received in the last minute. After a long time at 0, recovery begins.
    package var heard: Int
    /// Number of devices in `heard` that are unlisted possible meters or were dropped for lack of room (`GET
    /// /v1/scan/others`).
    package var dropped: Int
    /// Recovery steps since the daemon started.
    package var recoveries: Int
    /// Owner of the running search; null if none runs.
    @NullCodable package var discovery: Discovery?
    package var discovery_ms: Int64
    @NullCodable package var pairing: PairingStatus?
    /// Set only for a Bluetooth proxy.
    @NullCodable package var proxy: ProxyStatus?
    /// The fault and its remedy; null if all is well.
    @NullCodable package var error: String?

    package enum Discovery: String, Codable, Sendable, CaseIterable {
        case own
        /// Another program searches; the adapter also receives its results.
        case another
    }

    package enum State: String, Codable, Sendable, CaseIterable {
        case searching
        /// Between two rounds of search, or during the setup of a link. Also while every wanted meter is linked, to
        /// keep the radio band free for Wi-Fi and other programs.
        case idle
        case starting
        case recovering
        /// Switched off through rfkill or the system's settings.
        case blocked
        /// Every remedy failed; `error` describes the necessary action.
        case failed
        /// The daemon lacks a permission; `error` names it.
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
