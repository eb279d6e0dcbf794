/// The answer to `DELETE /v1/meters/{meter}`: what was forgotten.
package struct ForgottenMeter: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var name: String?
    /// Whether it had settings, which are deleted on every host.
    package var settings: Bool
    /// The meter's aliases.
    package var aliases: [String]
    /// Number of stored readings deleted; null if they were kept.
    @NullCodable package var readings: Int?
    /// It is heard or plugged in, so it appears again.
    package var is_here: Bool

    package init(id: String) {
        self.id = id
        (settings, is_here) = (false, false)
        aliases = []
    }
}
