/// The answer to `DELETE /v1/meters/{meter}`: what was forgotten.
package struct ForgottenMeter: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var name: String?
    /// It had settings, which are deleted on every host.
    package var settings: Bool
    /// Other ids that meant it.
    package var aliases: [String]
    /// Stored readings that were deleted; null where they were kept.
    @NullCodable package var readings: Int?
    /// It is heard or plugged in, so it appears anew.
    package var is_here: Bool

    package init(id: String) {
        self.id = id
        (settings, is_here) = (false, false)
        aliases = []
    }
}
