/// An alias in `GET /v1/aliases` and in the answer to `POST` or `DELETE /v1/aliases/{alias}`.
package struct MeterAliasBody: Codable, Hashable, Sendable {
    package var alias: String
    /// The meter's id; after a removal, the id to which the alias referred.
    package var meter: String

    package init(alias: String, meter: String) {
        self.alias = alias
        self.meter = meter
    }
}

/// `GET /v1/aliases`.
package struct MeterAliases: Codable, Hashable, Sendable {
    package var aliases: [MeterAliasBody]

    package init(aliases: [MeterAliasBody]) { self.aliases = aliases }
}

/// `POST /v1/aliases/{alias}`.
package struct AliasRequest: Codable, Hashable, Sendable {
    /// The meter's id or name.
    package var meter: String

    package init(meter: String) { self.meter = meter }
}
