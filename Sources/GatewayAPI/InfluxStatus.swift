/// `GET /v1/influx`: upload to the database in `[influx]`.
package struct InfluxStatus: Codable, Hashable, Sendable {
    /// Whether `[influx]` names a server. If not, all other values are 0, false or null.
    package var configured: Bool
    /// URL such as `https://influx.lan:8086`, without a path.
    @NullCodable package var url: String?
    /// Time of the last accepted batch, RFC 3339.
    @NullCodable package var taken: String?
    /// Points accepted since meterd started. `rejected` is counted from then, too.
    package var sent: Int
    package var rejected: Int
    /// Whether the last batch was full, so that more readings wait.
    package var behind: Bool
    /// Reason why the upload has stopped. meterd sends the backlog later.
    @NullCodable package var error: String?
    @NullCodable package var next: String?
    /// The server's message about the last rejected points.
    @NullCodable package var rejection: String?

    package init(url: String? = nil) {
        configured = url != nil
        self.url = url
        (sent, rejected, behind) = (0, 0, false)
    }
}
