/// The answer to `DELETE /v1/meters/{meter}`: what was forgotten.
package struct ForgottenMeter: Codable, Hashable, Sendable {
    package var id: String
    package var name: String?
    /// It had settings, which are deleted on every host.
    package var settings: Bool
    /// Other ids that meant it.
    package var aliases: [String]
    /// Stored readings that were deleted; null where they were kept.
    package var readings: Int?
    /// It is heard or plugged in, so it appears anew.
    package var is_here: Bool

    package init(id: String) {
        self.id = id
        (settings, is_here) = (false, false)
        aliases = []
    }

    /// Written out so that what is unknown is `null` and not missing.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(settings, forKey: .settings)
        try container.encode(aliases, forKey: .aliases)
        try container.encode(readings, forKey: .readings)
        try container.encode(is_here, forKey: .is_here)
    }
}
