/// `POST /v1/meters/{meter}/marks`: marks a moment or, with `end` or `open`, a span.
package struct MarkRequest: Codable, Hashable, Sendable {
    /// Name of the mark; meterd replaces illegal characters with spaces.
    package var name: String
    /// RFC 3339; absent means now.
    package var at: String?
    /// End of a span, RFC 3339.
    package var end: String?
    /// Whether to begin a span whose end is set later (`MarkChange`).
    package var open: Bool?
    /// Whether to keep the mark on this host, without publishing it over MQTT.
    package var local: Bool?

    package init(name: String, at: String? = nil, end: String? = nil, open: Bool? = nil, local: Bool? = nil) {
        self.name = name
        self.at = at
        self.end = end
        self.open = open
        self.local = local
    }
}

/// `PATCH /v1/marks/{mark}`. Absent values remain unchanged.
package struct MarkChange: Codable, Hashable, Sendable {
    package var name: String?
    /// End of an open span: RFC 3339, or `now`.
    package var end: String?

    package init(name: String? = nil, end: String? = nil) {
        self.name = name
        self.end = end
    }
}

package struct MarkBody: Codable, Hashable, Sendable {
    /// Eight hexadecimal digits, the same on every host.
    package var id: String
    package var meter: String
    package var name: String
    /// RFC 3339.
    package var from: String
    /// Equal to `from` for a moment; null while a span is open.
    @NullCodable package var to: String?
    package var is_local: Bool
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

/// `GET /v1/meters/{meter}/marks`, sorted by start, then by id.
package struct MarksBody: Codable, Hashable, Sendable {
    package var marks: [MarkBody]

    package init(marks: [MarkBody]) { self.marks = marks }
}
