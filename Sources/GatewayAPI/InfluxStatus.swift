/// `GET /v1/influx`: state of the upload to the time series database in `[influx]`.
package struct InfluxStatus: Codable, Hashable, Sendable {
    /// Whether `[influx]` names a server. If not, everything else is 0, false or null.
    package var configured: Bool
    /// URL such as `https://influx.lan:8086`, without a path.
    @NullCodable package var url: String?
    /// Time of the last accepted batch, RFC 3339.
    @NullCodable package var taken: String?
    /// Points accepted since meterd started. `rejected` counts from the same time.
    package var sent: Int
    package var rejected: Int
    /// Whether there is a backlog beyond the last batch.
    package var behind: Bool
    /// Reason why the upload is stopped. meterd sends the backlog later.
    @NullCodable package var error: String?
    @NullCodable package var next: String?
    /// The server's message for the last rejected points.
    @NullCodable package var rejection: String?

    /// - Parameter url: nil if no server is configured.
    package init(url: String? = nil) {
        configured = url != nil
        self.url = url
        (sent, rejected, behind) = (0, 0, false)
    }
}
