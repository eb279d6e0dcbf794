/// `GET /v1/influx`: how far readings were sent to the time series database in `[influx]`. Unknown or not applicable is null.
package struct InfluxStatus: Codable, Hashable, Sendable {
    /// Whether `[influx]` names a server. If not, everything else is 0, false or null.
    package var configured: Bool
    /// The server, such as `https://influx.lan:8086`, without a path.
    @NullCodable package var url: String?
    /// RFC 3339: when it last took something.
    @NullCodable package var taken: String?
    /// Points that it took since meterd started.
    package var sent: Int
    /// Points that it did not want since meterd started.
    package var rejected: Int
    /// Whether more waits than fitted into the last batch.
    package var behind: Bool
    /// Why it gets nothing at present. What is measured meanwhile is sent later.
    @NullCodable package var error: String?
    /// What to do about that.
    @NullCodable package var next: String?
    /// What it said to points that it did not want, last.
    @NullCodable package var rejection: String?

    /// - Parameter url: nil if no server is configured.
    package init(url: String? = nil) {
        configured = url != nil
        self.url = url
        (sent, rejected, behind) = (0, 0, false)
    }
}
