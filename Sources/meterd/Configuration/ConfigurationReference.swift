import MeterCodec

/// Every key of meterd.toml, with its purpose, and its default or an example.
///
/// The reader accepts no other keys. `meterd --print-configuration` prints it, which is the file that the package
/// installs and the reference in Docs/Configuration.md.
enum ConfigurationReference {
    struct Key: Sendable {
        var name: String
        /// In TOML: the default, or an example if there is none.
        var value: String
        /// The environment variable and the flag, if any.
        var otherWays: [String] = []
        var explanation = ""
        /// Keys that may stand in its place, as the explanation says.
        var alternatives: [String] = []
    }

    struct Table: Sendable {
        /// Empty for the keys before all tables.
        var name: String
        /// Whether it may occur several times.
        var isRepeated = false
        /// Of a table that has tables of any names in it, one such name.
        var example: String?
        var explanation = ""
        var keys: [Key]

        var heading: String {
            let full = example.map { "\(name).\($0)" } ?? name
            return isRepeated ? "[[\(full)]]" : "[\(full)]"
        }
    }

    static let tables = [
        general, cloud, relay, sync, bluetooth, web, mqtt, influx, notify, programNotify, store, model, port, rawPort,
    ]

    /// The names allowed in a table: its keys and, in the outermost one, the tables as well.
    static func names(in table: String) -> [String] {
        let keys = tables.filter { $0.name == table }.flatMap(\.keys).flatMap { [$0.name] + $0.alternatives }
        return table.isEmpty ? keys + tables.map(\.name).filter { !$0.isEmpty } : keys
    }

    private static let general = Table(
        name: "",
        keys: [
            Key(
                name: "state-directory", value: #""/var/lib/meterd""#,
                otherWays: ["METERD_STATE_DIRECTORY", "--state-directory"],
                explanation: "Where the store is. Default: /var/lib/meterd for root, ~/.local/state/meterd for anybody "
                    + "else. As a service meterd may write to its own folders only, this one and the socket's: another "
                    + "place needs ReadWritePaths= too (systemctl edit meterd)."),
            Key(
                name: "socket", value: #""/run/meterd/control.sock""#, otherWays: ["METERD_SOCKET", "--socket"],
                explanation: "The control socket. Default: /run/meterd/control.sock for root, "
                    + "$XDG_RUNTIME_DIR/meterd/control.sock otherwise."),
            Key(
                name: "log-level", value: #""info""#, otherWays: ["METERD_LOG_LEVEL", "--log-level"],
                explanation: "trace, debug, info, notice, warning, error or critical."),
            Key(
                name: "host-name", value: #""bench pi""#, otherWays: ["METERD_HOST_NAME"],
                explanation: "What other hosts call this one. Default: the system's host name."),
        ])

    private static let cloud = Table(
        name: "cloud",
        keys: [
            Key(
                name: "serve", value: "false",
                explanation: "This meterd serves the cloud itself, so that a home needs no other machine "
                    + "(Docs/Operating.md)."),
            Key(name: "listen", value: #""0.0.0.0:8643""#, explanation: "Where it serves it."),
            Key(
                name: "policy", value: #""keep""#,
                explanation: "\"strict\": two hosts never both talk to a meter, at the price of cutting a link that "
                    + "cannot be confirmed. A host may be stricter than its zone, never laxer."),
            Key(
                name: "lease-ttl", value: #""120s""#,
                explanation: "How long a lease lasts without renewal. 30s to 10m; the zone may cap it."),
            Key(
                name: "connections-per-address", value: "64",
                explanation:
                    "Connections that one address (the /64 of an IPv6 address) may have open to the cloud that "
                    + "is served here; a host needs two. 1 to 4096. This machine and proxies may have eight times as "
                    + "many, and so may all together that have shown no token."),
            Key(
                name: "proxies", value: #"["192.168.1.2"]"#,
                explanation:
                    "Proxies, through which many hosts come to the cloud that is served here: their addresses. "
                    + "Default: no proxies."),
        ])

    private static let relay = Table(
        name: "relay",
        keys: [
            Key(
                name: "share", value: "true",
                explanation: "false: what this host's meters measure is not shown on other hosts, which say so."),
            Key(
                name: "commands", value: "true",
                explanation: "false: other hosts may not send commands to this host's meters, nor begin or end "
                    + "recordings here."),
        ])

    private static let bluetooth = Table(
        name: "bluetooth",
        keys: [
            Key(name: "use", value: "true", explanation: "false: the radios are left alone."),
            Key(
                name: "adapters", value: #"["00:1A:7D:DA:71:13"]"#,
                explanation: "Only these adapters, by their own address (meterctl status). Default: all there are."),
            Key(
                name: "links", value: "5",
                explanation: "How many links to meters one adapter is taken to bear at once. 1 to 64; cheap adapters "
                    + "bear 5."),
            Key(
                name: "scan", value: #""gentle""#,
                explanation: "How much of the air looking for meters takes. \"gentle\": half of it while a meter that "
                    + "is wanted is missing, 5 s a minute otherwise. \"always\": half of it and more. \"on-demand\": as "
                    + "gentle, and nothing at all while no meter is missing. meterctl scan looks in any case."),
        ])

    private static let web = Table(
        name: "web",
        keys: [
            Key(name: "serve", value: "true", explanation: "false: there is no web page."),
            Key(
                name: "listen", value: #""127.0.0.1:8642""#, otherWays: ["METERD_WEB_LISTEN"],
                explanation: "Where this machine reaches it: a loopback address. Opening it to the network is meterctl "
                    + "web enable (Docs/Web.md)."),
            Key(
                name: "names", value: #"["meters.example.org"]"#,
                explanation: "Further names under which browsers ask for it. The machine's own name, that name with "
                    + ".local and its addresses are known."),
        ])

    private static let mqtt = Table(
        name: "mqtt",
        explanation:
            "A broker that hears of the meters, and Home Assistant through it (Docs/HomeAssistant.md). Without "
            + "this table there is none.",
        keys: [
            Key(
                name: "url", value: #""mqtts://broker.lan""#,
                explanation: "mqtts:// is TLS, on port 8883 unless one is given; mqtt:// is plain text, on 1883."),
            Key(
                name: "credentials-file", value: #""/etc/meterd/broker""#,
                explanation: "Two lines, user and password. Nobody but its owner may write it and nobody but owner and "
                    + "group may read it; for the service that is owner root, group meterd, mode 0640. With mqtt:// "
                    + "only for a broker on this machine."),
            Key(
                name: "ca-file", value: #""/etc/meterd/broker-ca.pem""#,
                explanation: "The authority of the broker's certificate, in PEM. Default: those that the system trusts."
            ),
            Key(
                name: "discovery-prefix", value: #""homeassistant""#, explanation: "What Home Assistant looks below."),
            Key(name: "base-topic", value: #""metergateway""#, explanation: "What everything of ours begins with."),
            Key(
                name: "interval", value: #""5s""#, explanation: "How often a meter's reading is published. 1s to 1h."),
        ])

    private static let influx = Table(
        name: "influx",
        explanation:
            "A time series database that readings of this host's meters are sent to (Docs/InfluxDB.md). Without this table "
            + "there is none.",
        keys: [
            Key(
                name: "url", value: #""https://influx.lan:8086""#,
                explanation: "InfluxDB's or VictoriaMetrics's address, in front of /api/v2/write or /write. Never in a "
                    + "log, but for its server."),
            Key(
                name: "bucket", value: #""home""#,
                explanation: "Of InfluxDB 2 and later. In its place, InfluxDB 1 and VictoriaMetrics have database = "
                    + #""home", and user = "meterd" where token-file has that user's password."#,
                alternatives: ["database", "user"]),
            Key(name: "org", value: #""home""#, explanation: "Whose bucket it is."),
            Key(
                name: "token-file", value: #""/etc/meterd/influx-token""#,
                explanation:
                    "The token to show, in its first line. Nobody but its owner may write it "
                    + "and nobody but owner and group may read it. Default: no token."),
            Key(name: "measurement", value: #""meter""#, explanation: "What the points are called."),
            Key(name: "interval", value: #""10s""#, explanation: "How often what is new is sent. 1s to 1h."),
            Key(
                name: "back-fill", value: #""168h""#,
                explanation:
                    "How old a reading may be that was not sent yet, at the first start or after an outage. 1m "
                    + "to 8760h."),
            Key(name: "timeout", value: #""10s""#, explanation: "How long one attempt may take. 1s to 5m."),
        ])

    private static let notify = Table(
        name: "notify", example: "phone",
        explanation:
            "Somebody who can be told of alerts, under a name that meterctl alert add --notify takes (Docs/Alerts.md). As "
            + "many as there are names, up to 32.",
        keys: [
            Key(
                name: "kind", value: #""ntfy""#,
                explanation: "\"ntfy\" and \"gotify\": those servers. \"webhook\": POST of JSON. \"exec\": a program."),
            Key(
                name: "url", value: #""https://ntfy.sh/a-topic-nobody-guesses""#,
                explanation:
                    "Of ntfy the topic's address, of Gotify the server's, of a webhook its own. Never in a log, but "
                    + "for its server."),
            Key(
                name: "token-file", value: #""/etc/meterd/ntfy-token""#,
                explanation:
                    "The token to show, in its first line. Nobody but its owner may write it and nobody but owner "
                    + "and group may read it. Default: no token."),
            Key(name: "timeout", value: #""10s""#, explanation: "How long one attempt may take. 1s to 5m."),
        ])

    /// The same table again, as an example of its other kind.
    private static let programNotify = Table(
        name: "notify", example: "lamp",
        explanation: "A program has command in place of url. It runs as meterd's user, and not at all as root.",
        keys: [
            Key(name: "kind", value: #""exec""#),
            Key(
                name: "command", value: #"["/usr/local/bin/lamp", "red"]"#,
                explanation:
                    "A program's path and its arguments. No shell reads them; what happened is in the environment."),
            Key(name: "timeout", value: #""10s""#, explanation: "After this it is killed. 1s to 5m."),
        ])

    private static let store = Table(
        name: "store",
        keys: [
            Key(
                name: "flush-interval", value: #""60s""#,
                explanation: "How long a reading may wait in memory: what a power cut costs at most. 1s to 1h."),
            Key(
                name: "raw-days", value: "30",
                explanation:
                    "Of a meter that tells more than four times a second, single readings older than this many "
                    + "days are replaced by seconds, each with least, greatest and mean. Slower ones take less room as "
                    + "they are."),
            Key(
                name: "keep-days", value: "400",
                explanation: "Single readings and seconds older than this many days are deleted."),
            Key(
                name: "minute-days", value: "1830",
                explanation: "Minutes older than this many days are deleted. Hours are kept for ever: some kilobytes a "
                    + "day."),
            Key(
                name: "max-megabytes", value: "2048",
                explanation: "Above this size the oldest readings and seconds are deleted."),
        ])

    private static let model = Table(
        name: "model", example: "ina226",
        explanation:
            "A meter of your own making: a board that prints what it measures, as lines of text (Docs/Meters/GENERIC.md). "
            + "A [[port]] with model = \"ina226\" has one. As many as there are names.",
        keys: MeterCatalogue.standard.descriptionKeys.map { key in
            Key(name: key.name, value: key.example, explanation: key.explanation)
        })

    private static let port = Table(
        name: "port", isRepeated: true,
        explanation: "A serial port that nothing identifies. As many as there are.",
        keys: [
            Key(name: "path", value: #""/dev/rfcomm0""#),
            Key(name: "model", value: #""um25c""#),
            Key(
                name: "id", value: #""AA:BB:CC:DD:EE:FF""#,
                explanation: "The meter's own address, where you know it."),
            Key(name: "name", value: #""Bench""#),
            Key(
                name: "connect", value: "true",
                explanation: "From the first start; settings made with meterctl take precedence."),
        ])

    /// The same table again, as an example of its other kind.
    private static let rawPort = Table(
        name: "port", isRepeated: true,
        explanation: "A raw HID device that nothing identifies has hidraw in place of path, and the other keys as "
            + "above.",
        keys: [
            Key(name: "hidraw", value: #""/dev/hidraw3""#),
            Key(name: "model", value: #""fnb48""#),
        ])
}

// MARK: - As a file

extension ConfigurationReference {
    /// - Parameter isSwitchedOff: whether each key and table is commented out, so that the file changes nothing.
    static func text(isSwitchedOff: Bool) -> String {
        let mark = isSwitchedOff ? "#" : ""
        var blocks: [String] = isSwitchedOff ? [comment(introduction)] : []
        for table in tables {
            // Keys before all tables are separated by blank lines; those in a table are not.
            if table.name.isEmpty {
                blocks += table.keys.map { text(of: $0, mark: mark) }
                continue
            }
            let heading = "\(mark)\(table.heading)\n"
            blocks.append(
                comment(table.explanation) + heading + table.keys.map { text(of: $0, mark: mark) }.joined())
        }
        return blocks.joined(separator: "\n")
    }

    private static let introduction =
        "meterd needs no configuration: every key is here, commented out by its \"#\", with its default or, where it has "
        + "none, with an example. Take away the \"#\" of a key, and of the [table] it is in, to set it; then: sudo "
        + "systemctl restart meterd. What \"meterctl web enable\", \"meterctl cloud join\" and \"meterctl set\" change is "
        + "not in this file."

    private static func text(of key: Key, mark: String) -> String {
        let line = "\(mark)\(key.name) = \(key.value)"
        guard !key.otherWays.isEmpty else { return comment(key.explanation) + line + "\n" }
        let gap = String(repeating: " ", count: max(2, otherWaysColumn - line.count + mark.count))
        return comment(key.explanation) + line + gap + "# " + key.otherWays.joined(separator: ", ") + "\n"
    }

    private static let otherWaysColumn = 44
    private static let lineLength = 120

    /// Lines that begin with "# "; none for an empty text.
    private static func comment(_ text: String) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= lineLength {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append("# \(word)")
            }
        }
        return lines.map { "\($0)\n" }.joined()
    }
}
