import MeterModel
import Notifications
import TOMLKit

extension ConfigurationFile {
    /// Reads `[influx]`. An address is not repeated in a message: its path may be a secret.
    func applyInflux(_ influx: TOMLTable, to configuration: inout Configuration) throws(ConfigurationError) {
        try checkKeys(of: influx, in: "influx")
        var result = configuration.influx
        guard let url = try string("url", in: influx, "influx.") else {
            throw ConfigurationError(
                "\(path): [influx] has no url",
                next: "give it the server, for example url = \"https://influx.lan:8086\"")
        }
        guard let address = NotificationAddress(url), !url.contains("?") else {
            throw ConfigurationError(
                "\(path): influx.url is not an address",
                next:
                    "it takes http:// or https:// with a host, without a user and a query; a token goes into token-file"
            )
        }
        var target = InfluxTarget(address: address, place: try place(in: influx))
        target.user = try user(in: influx)
        target.tokenPath = try file("token-file", in: influx, "influx.")
        let second = Duration.seconds(1)
        target.limit = try time("timeout", in: influx, "influx.", legal: second...second * 300) ?? target.limit
        result.interval = try time("interval", in: influx, "influx.", legal: second...second * 3600) ?? result.interval
        result.backFill =
            try time("back-fill", in: influx, "influx.", legal: second * 60...second * 31_536_000) ?? result.backFill
        if let measurement = try string("measurement", in: influx, "influx.") {
            // A line that begins with # is a comment, and names that begin with _ are InfluxDB's own
            // (<https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>).
            guard (1...64).contains(measurement.utf8.count), !measurement.contains(where: \.isControl),
                !measurement.hasPrefix("#"), !measurement.hasPrefix("_")
            else {
                throw ConfigurationError(
                    "\(path): influx.measurement cannot be \"\(measurement.visible)\"",
                    next: "it takes 1 to 64 bytes, and does not begin with # or _")
            }
            result.measurement = measurement
        }
        result.target = target
        configuration.influx = result
    }

    private func place(in influx: TOMLTable) throws(ConfigurationError) -> InfluxTarget.Place {
        let (bucket, org) = (try string("bucket", in: influx, "influx."), try string("org", in: influx, "influx."))
        let database = try string("database", in: influx, "influx.")
        for (key, value) in [("bucket", bucket), ("org", org), ("database", database)] where value?.isEmpty == true {
            throw ConfigurationError("\(path): influx.\(key) is empty", next: "give it the name that the server has")
        }
        switch (bucket, database) {
        case (let bucket?, nil): return .bucket(bucket, org: org)
        case (nil, let database?):
            guard org == nil else {
                throw ConfigurationError(
                    "\(path): influx.org is of no use with database", next: "take it away, or give bucket instead")
            }
            return .database(database)
        default:
            throw ConfigurationError(
                "\(path): [influx] needs either bucket or database",
                next: "bucket and org for InfluxDB 2, database for InfluxDB 1 and VictoriaMetrics")
        }
    }

    private func user(in influx: TOMLTable) throws(ConfigurationError) -> String? {
        guard let user = try string("user", in: influx, "influx.") else { return nil }
        // It is in front of the colon of Basic authentication (RFC 7617).
        guard !user.isEmpty, !user.contains(":"), !user.contains(where: \.isControl) else {
            throw ConfigurationError(
                "\(path): influx.user is not a user's name",
                next: "it takes a name without a colon; the password goes into token-file")
        }
        guard influx["bucket"] == nil else {
            throw ConfigurationError(
                "\(path): influx.user is of no use with bucket", next: "take it away; a bucket has a token")
        }
        guard influx["token-file"] != nil else {
            throw ConfigurationError(
                "\(path): influx.user has no password", next: "put it into a file, and name that as token-file")
        }
        return user
    }
}
