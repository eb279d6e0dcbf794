import Domain
import Notifications

extension ConfigurationKeys {
    static let influx = ConfigurationTable(
        "influx",
        "Time series database for this host's readings (Docs/InfluxDB.md). Without this table meterd uses none.",
        defaults: Configuration.Influx(),
        keys: [
            .init(
                "url", optional: \.address, .server, example: #""https://influx.lan:8086""#,
                "Address of InfluxDB or VictoriaMetrics, without /api/v2/write or /write. Logs show only its server."),
            .init(
                "bucket", optional: \.bucket, .name, example: #""home""#,
                "For InfluxDB 2 and later. InfluxDB 1 and VictoriaMetrics take database = \"home\" instead, and user = "
                    + "\"meterd\" if token-file has that user's password."),
            .init("database", optional: \.database, .name),
            .init("user", optional: \.user, .user),
            .init("org", optional: \.org, .name, example: #""home""#, "The bucket's organisation."),
            .init(
                "token-file", optional: \.tokenPath, .file, example: #""/etc/meterd/influx-token""#, tokenExplanation),
            .init("measurement", \.measurement, .measurement, "Measurement of all points."),
            .init(
                "interval", \.interval, .time(.seconds(1) ... .seconds(3600)),
                "How often meterd sends new readings. {range}."),
            .init(
                "back-fill", \.backFill, .time(.seconds(60) ... .seconds(365 * 86_400)),
                "Greatest age of readings to catch up with, at the first start or after an outage. {range}."),
            .init("timeout", \.limit, .time(attempt), "Timeout of an attempt. {range}."),
        ])

    static let tokenExplanation =
        "File with the token in the first line. Only the owner may write it, only owner and group may read it. "
        + "Default: none."
    static let attempt = Duration.seconds(1) ... .seconds(300)

    static func check(_ influx: Configuration.Influx) throws(ConfigurationError) {
        guard influx.address != nil else {
            throw ConfigurationError(
                "[influx] has no url", next: "give it the server, for example url = \"https://influx.lan:8086\"")
        }
        guard (influx.bucket == nil) != (influx.database == nil) else {
            throw ConfigurationError(
                "[influx] needs either bucket or database",
                next: "bucket and org for InfluxDB 2, database for InfluxDB 1 and VictoriaMetrics")
        }
        guard influx.database == nil || influx.org == nil else {
            throw ConfigurationError(
                "influx.org is of no use with database", next: "take it away, or give bucket instead")
        }
        guard influx.user != nil else { return }
        guard influx.bucket == nil else {
            throw ConfigurationError("influx.user is of no use with bucket", next: "take it away; a bucket has a token")
        }
        guard influx.tokenPath != nil else {
            throw ConfigurationError(
                "influx.user has no password", next: "put it into a file, and name that as token-file")
        }
    }
}

extension ConfigurationType<NotificationAddress> {
    fileprivate static var server: Self {
        .secret(
            "an address",
            takes: "http:// or https:// with a host, without a user and a query; a token goes into token-file"
        ) { $0.contains("?") ? nil : NotificationAddress($0) }
    }
}

extension ConfigurationType<String> {
    fileprivate static var name: Self { .text("the name that the server has") { !$0.isEmpty } }

    /// User name for Basic authentication (RFC 7617): contains no colon.
    fileprivate static var user: Self {
        .secret("a user's name", takes: "a name without a colon; the password goes into token-file") {
            $0.isEmpty || $0.contains(":") || $0.contains(where: \.isControl) ? nil : $0
        }
    }

    /// InfluxDB measurement. A line that begins with # would be a comment, and names that begin with _ are reserved
    /// (<https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>).
    fileprivate static var measurement: Self {
        .text("1 to 64 bytes, and does not begin with # or _") {
            (1...64).contains($0.utf8.count) && !$0.contains(where: \.isControl) && !$0.hasPrefix("#")
                && !$0.hasPrefix("_")
        }
    }
}
