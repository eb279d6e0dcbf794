/// Answer to `DELETE /v1/meters/{meter}`.
package struct ForgottenMeter: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var name: String?
    /// Whether settings were deleted; if so, on every host.
    package var settings: Bool
    package var aliases: [String]
    /// Number of deleted readings; null if kept.
    @NullCodable package var readings: Int?
    /// Whether the meter is in range or plugged in, so it will be listed again.
    package var is_here: Bool

    package init(id: String) {
        self.id = id
        (settings, is_here) = (false, false)
        aliases = []
    }
}
