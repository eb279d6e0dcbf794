/// `POST /v1/profiler` on the control socket: makes an address that the Firefox Profiler reads without a login.
package struct ProfilerRequest: Codable, Hashable, Sendable {
    /// A track for each.
    package var meters: [String]
    /// RFC 3339: the profile begins and ends then. Null or absent for a power source, which is asked for any time.
    package var from: String?
    package var to: String?
    /// How long a power source is served; null or absent until meterd restarts.
    package var for_ms: Int64?

    package init(meters: [String], from: String? = nil, to: String? = nil, for_ms: Int64? = nil) {
        self.meters = meters
        self.from = from
        self.to = to
        self.for_ms = for_ms
    }
}

/// The answer. Unknown or not applicable is null.
package struct ProfilerBody: Codable, Hashable, Sendable {
    /// A secret: whoever knows it can read these meters' power.
    package var url: String
    /// The address that shows the profile in profiler.firefox.com; null for a power source.
    @NullCodable package var viewer: String?
    /// When the address ends, RFC 3339; null for the end of meterd.
    @NullCodable package var ends: String?

    package init(url: String) { self.url = url }
}
