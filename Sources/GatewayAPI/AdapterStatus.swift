/// One Bluetooth adapter of this host in `GET /v1/status` and in `meterctl status --json`. Unknown is null.
package struct AdapterStatus: Codable, Hashable, Sendable {
    /// Its own address, which identifies it permanently; of a proxy that was never reached, its host.
    package var address: String
    /// The kernel's present name for it, `hci0`, or a proxy's host; null while it is gone.
    @NullCodable package var name: String?
    package var state: State
    /// Since when, RFC 3339.
    package var since: String
    /// Links to meters that are open or opening, and how many the adapter is assumed to support.
    package var links: Int
    package var links_max: Int
    /// Devices of any kind heard in the last minute. If an adapter hears none for long, recovery begins.
    package var heard: Int
    /// Of those, devices that look like meters but are not shown, and those for which there was no room. `GET
    /// /v1/scan/others` gives the reasons.
    package var dropped: Int
    /// Steps of the recovery ladder taken since the daemon started.
    package var recoveries: Int
    /// Whose search is running; null if none is.
    @NullCodable package var discovery: Discovery?
    /// How long it has searched for meters since the daemon started, in total.
    package var discovery_ms: Int64
    /// The state of pairing over it; null while it is gone.
    @NullCodable package var pairing: PairingStatus?
    /// Set if it is not this machine's adapter, but a Bluetooth proxy elsewhere.
    @NullCodable package var proxy: ProxyStatus?
    /// What is wrong and what to do about it; null if nothing is.
    @NullCodable package var error: String?

    package enum Discovery: String, Codable, Sendable, CaseIterable {
        case own
        /// Another program's: the adapter hears what that search hears, and begins none of its own.
        case another
    }

    package enum State: String, Codable, Sendable, CaseIterable {
        /// It is searching for meters.
        case searching
        /// It is on but not searching for meters at the moment: it rests between two rounds, leaves the air to Wi-Fi
        /// and other programs while every wanted meter is linked, or makes a link.
        case idle
        /// It is being switched on or set up.
        case starting
        /// Something went wrong, and a remedy is being tried.
        case recovering
        /// Switched off by a person or program, through rfkill or the system's settings.
        case blocked
        /// Every remedy was tried without success: a person has to act, and `error` says how.
        case failed
        /// This program may not use it; `error` says what is missing.
        case forbidden
        /// It was there before, and is there no longer.
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
