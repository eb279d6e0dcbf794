/// An alias of a meter: the answer to `POST` and `DELETE /v1/aliases/{alias}`, and an entry of `GET /v1/aliases`.
package struct MeterAliasBody: Codable, Hashable, Sendable {
    package var alias: String
    /// The meter's id or, once the alias is removed, the id that it stood for.
    package var meter: String

    package init(alias: String, meter: String) {
        self.alias = alias
        self.meter = meter
    }
}

/// `GET /v1/aliases`: aliases of meters, on all hosts of the zone.
package struct MeterAliases: Codable, Hashable, Sendable {
    package var aliases: [MeterAliasBody]

    package init(aliases: [MeterAliasBody]) { self.aliases = aliases }
}

/// `POST /v1/aliases/{alias}`.
package struct AliasRequest: Codable, Hashable, Sendable {
    /// An id of the meter, or its name.
    package var meter: String

    package init(meter: String) { self.meter = meter }
}
