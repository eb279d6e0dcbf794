/// One Bluetooth adapter of this host in `GET /v1/status` and in `meterctl status --json`. Unknown is null.
package struct AdapterStatus: Codable, Hashable, Sendable {
    /// Its own address, by which it is known for ever.
    package var address: String
    /// What the kernel calls it just now, `hci0`; null while it is gone.
    @NullCodable package var name: String?
    package var state: State
    /// Since when, RFC 3339.
    package var since: String
    /// Links to meters that are open or opening, and how many the adapter is taken to bear.
    package var links: Int
    package var links_max: Int
    /// Devices of any kind heard in the last minute. An adapter that hears none for long is looked after.
    package var heard: Int
    /// Of those, what looks like a meter and is not shown, and what there was no room for. `GET /v1/scan/others` says why.
    package var dropped: Int
    /// Steps of the recovery ladder taken since the daemon started.
    package var recoveries: Int
    /// Whose search runs; null while none does.
    @NullCodable package var discovery: Discovery?
    /// For how long it has looked for meters since the daemon started, all rounds together.
    package var discovery_ms: Int64
    /// How meters with a PIN fare over it; null while it is gone.
    @NullCodable package var pairing: PairingStatus?
    /// What is wrong, and what to do about it; null while nothing is.
    @NullCodable package var error: String?

    package enum Discovery: String, Codable, Sendable, CaseIterable {
        case own
        /// Another program's: the adapter hears what that one hears, and begins no search of its own.
        case another
    }

    package enum State: String, Codable, Sendable, CaseIterable {
        /// It looks for meters.
        case searching
        /// It is on and does not look for meters just now: it rests between two rounds of looking, leaves the air to Wi-Fi
        /// and to other programs while every meter that is wanted is linked, or makes a link.
        case idle
        /// It is being switched on or set up.
        case starting
        /// Something went wrong, and a remedy is being tried.
        case recovering
        /// Switched off by a person or program: by rfkill, or through the system's settings.
        case blocked
        /// Every remedy was tried: a person has to do something, and `error` says what.
        case failed
        /// This program may not use it; `error` says what is missing.
        case forbidden
        /// It was there and is not any more.
        case gone
    }

    package init(
        address: String, name: String?, state: State, since: String, links: Int = 0, links_max: Int = 0, heard: Int = 0,
        dropped: Int = 0, recoveries: Int = 0, discovery: Discovery? = nil, discovery_ms: Int64 = 0,
        pairing: PairingStatus? = nil, error: String? = nil
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
        self.error = error
    }
}
