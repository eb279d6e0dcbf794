/// `POST /v1/profiler` on the control socket: creates an address that the Firefox Profiler loads without a login.
package struct ProfilerRequest: Codable, Hashable, Sendable {
    package var meters: [String]
    /// Start of the range, RFC 3339; absent for Firefox's own power tracks: Firefox then requests the range.
    package var from: String?
    package var to: String?
    /// Lifetime of the address for Firefox's own power tracks; null or absent: until meterd restarts.
    package var for_ms: Int64?

    package init(meters: [String], from: String? = nil, to: String? = nil, for_ms: Int64? = nil) {
        self.meters = meters
        self.from = from
        self.to = to
        self.for_ms = for_ms
    }
}

package struct ProfilerBody: Codable, Hashable, Sendable {
    /// Secret: whoever has it can view the power of these meters.
    package var url: String
    /// Address that opens the profile in profiler.firefox.com; null for Firefox's own power tracks.
    @NullCodable package var viewer: String?
    /// Expiry of the address, RFC 3339; null: when meterd ends.
    @NullCodable package var ends: String?

    package init(url: String) { self.url = url }
}
