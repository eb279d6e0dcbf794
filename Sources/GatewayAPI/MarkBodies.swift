/// `POST /v1/meters/{meter}/marks`: a moment, unless it has an end or is open.
package struct MarkRequest: Codable, Hashable, Sendable {
    /// What a name cannot have becomes a space.
    package var name: String
    /// RFC 3339; absent for now.
    package var at: String?
    /// The end of a span.
    package var end: String?
    /// A span that goes on until it is ended.
    package var open: Bool?
    /// Stays on this host, and is not told to MQTT.
    package var local: Bool?

    package init(name: String, at: String? = nil, end: String? = nil, open: Bool? = nil, local: Bool? = nil) {
        self.name = name
        self.at = at
        self.end = end
        self.open = open
        self.local = local
    }
}

/// `PATCH /v1/marks/{mark}`. What is absent stays.
package struct MarkChange: Codable, Hashable, Sendable {
    package var name: String?
    /// The end of an open span: RFC 3339, or `now`.
    package var end: String?

    package init(name: String? = nil, end: String? = nil) {
        self.name = name
        self.end = end
    }
}

/// A moment or a span on a meter's timeline that somebody named.
package struct MarkBody: Codable, Hashable, Sendable {
    /// Eight digits, the same on every host.
    package var id: String
    package var meter: String
    package var name: String
    /// RFC 3339.
    package var from: String
    /// Equal to `from` for a moment, null while a span is open.
    @NullCodable package var to: String?
    /// This host alone has it.
    package var is_local: Bool
    /// The host that made it, as it calls itself.
    @NullCodable package var host: String?
    package var host_id: String

    package init(
        id: String, meter: String, name: String, from: String, to: String?, is_local: Bool, host: String?,
        host_id: String
    ) {
        self.id = id
        self.meter = meter
        self.name = name
        self.from = from
        self.to = to
        self.is_local = is_local
        self.host = host
        self.host_id = host_id
    }
}

/// `GET /v1/meters/{meter}/marks`: in the order of their begin, then of their ids.
package struct MarksBody: Codable, Hashable, Sendable {
    package var marks: [MarkBody]

    package init(marks: [MarkBody]) { self.marks = marks }
}
