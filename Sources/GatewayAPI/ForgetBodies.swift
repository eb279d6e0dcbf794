/// Answer to `DELETE /v1/meters/{meter}`.
package struct ForgottenMeter: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var name: String?
    /// Whether there were settings. They are deleted on every host.
    package var settings: Bool
    package var aliases: [String]
    /// Number of deleted readings; null if kept.
    @NullCodable package var readings: Int?
    /// Whether the meter is still in range or plugged in, so that it reappears.
    package var is_here: Bool

    package init(id: String) {
        self.id = id
        (settings, is_here) = (false, false)
        aliases = []
    }
}
