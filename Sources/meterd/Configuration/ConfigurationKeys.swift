import BluetoothCore
import Domain
import GatewayServer
import ServerKit

enum ConfigurationKeys {
    private static let settings = Configuration(environment: [:], userID: 0)
    private static let days = 1...36_500

    static let general = ConfigurationTable(
        "", defaults: settings,
        keys: [
            .init(
                "state-directory", \.stateDirectory, .text, overrides: ["METERD_STATE_DIRECTORY", "--state-directory"],
                "Folder of the store. Default: /var/lib/meterd for root, else ~/.local/state/meterd. Another folder "
                    + "needs ReadWritePaths= of the service too (systemctl edit meterd)."),
            .init(
                "socket", \.socketPath, .text, overrides: ["METERD_SOCKET", "--socket"],
                "Control socket. Default: /run/meterd/control.sock for root, else "
                    + "$XDG_RUNTIME_DIR/meterd/control.sock."),
            .init("log-level", \.logLevel, .choice, overrides: ["METERD_LOG_LEVEL", "--log-level"], "{range}."),
            .init(
                "host-name", optional: \.hostName,
                .text("a text of 1 to 64 characters") {
                    (1...64).contains($0.count) && !$0.contains(where: \.isControl)
                },
                example: #""bench pi""#, overrides: ["METERD_HOST_NAME"],
                "This host's name for other hosts. Default: the system's host name."),
        ])

    static let cloud = ConfigurationTable(
        "cloud", defaults: Configuration.Cloud(),
        keys: [
            .init("serve", \.serves, .flag, "true: serve a cloud for the hosts of a home (Docs/Operating.md)."),
            .init("listen", \.listen, .listen(example: "0.0.0.0:8643"), "Its address."),
            .init(
                "policy", \.policy, .choice,
                "\"strict\": two hosts never talk to one meter; a host that cannot renew its lease cuts the link. A "
                    + "host may be stricter than its zone, never laxer."),
            .init(
                "lease-ttl", \.timeToLive, .time(LeaseTerms.timeToLiveRange), example: #""120s""#,
                "How long a lease lasts without renewal. {range}; the zone may cap it."),
            .init(
                "connections-per-address", \.connectionsPerAddress, .integer(1...4096),
                "Connections that one address (an IPv6 /64) may open to the cloud served here; a host needs two. "
                    + "{range}. This machine and proxies may open eight times as many, and so may all clients without "
                    + "a token together."),
            .init(
                "proxies", \.proxies,
                .list(
                    of: "addresses", each: "an address",
                    next: "it takes addresses without port, as \"192.168.1.2\""
                ) { IPAddress.bytes(of: $0) == nil ? nil : $0 },
                example: #"["192.168.1.2"]"#,
                "Addresses of proxies, through which many hosts come to it. Default: none."),
        ])

    static let relay = ConfigurationTable(
        "relay", defaults: Configuration.Relay(),
        keys: [
            .init("share", \.shares, .flag, "false: hide what this host's meters measure from other hosts."),
            .init("commands", \.takesCommands, .flag, "false: refuse commands and recordings of other hosts."),
        ])

    static let bluetooth = ConfigurationTable(
        "bluetooth", defaults: Configuration.Bluetooth(),
        keys: [
            .init("use", \.isUsed, .flag, "false: use no radio."),
            .init(
                "adapters", \.adapters,
                .list(
                    of: "addresses", each: "an address of an adapter",
                    next: "meterctl status shows them; hci0 and the like change from boot to boot"
                ) { MACAddress($0) },
                example: #"["00:1A:7D:DA:71:13"]"#,
                "Only these adapters, by address (meterctl status). Default: all."),
            .init(
                "links", \.linksMax, .integer(1...64),
                "Links to meters that one adapter bears at once. {range}; cheap adapters bear 5."),
            .init(
                "scan", \.search, .choice,
                "The search's share of the air. \"gentle\": half while a wanted meter is missing, else 5 s a minute. "
                    + "\"always\": more than half. \"on-demand\": like gentle, but none while no meter is missing. "
                    + "meterctl scan always searches."),
        ])

    static let discovery = ConfigurationTable(
        "discovery", defaults: Configuration.Discovery(),
        keys: [
            .init(
                "browse", \.browses, .flag,
                "false: meterctl scan and doctor do not ask the network (Avahi) for ESPHome nodes. meterd uses only "
                    + "nodes that are named here."),
            .init(
                "announce", \.announces, .flag,
                "false: do not announce an open web page or a served cloud in the network (Avahi)."),
        ])

    static let web = ConfigurationTable(
        "web", defaults: Configuration.Web(),
        keys: [
            .init("serve", \.serves, .flag, "false: no web page."),
            .init(
                "listen", \.listen, .loopback, overrides: ["METERD_WEB_LISTEN"],
                "Loopback address for this machine. meterctl web enable opens the page to the network (Docs/Web.md)."),
            .init(
                "names", \.names,
                .list(
                    of: "names", each: "a name of a host",
                    next: "it takes names without port, as \"meters.example.org\""
                ) { WebNames.isName($0) ? $0 : nil },
                example: #"["meters.example.org"]"#,
                "Names under which browsers ask for it, besides the machine's name, NAME.local and its addresses."),
            .init(
                "proxies", \.proxies,
                .list(
                    of: "addresses", each: "an address or a network",
                    next: "it takes them without port, as \"127.0.0.1\" or \"192.168.1.0/24\""
                ) { IPNetwork($0) },
                example: #"["127.0.0.1"]"#,
                "Servers in front of the page, by address or network. Only their headers count "
                    + "(Docs/Web.md#behind-another-server). Default: none."),
            .init(
                "ingress", optional: \.ingress, .listen(example: "172.30.32.1:8099"), example: #""172.30.32.1:8099""#,
                "Address for Home Assistant's Supervisor (172.30.32.2) alone, without another login "
                    + "(Docs/Web.md#inside-home-assistant). Default: none."),
            .init(
                "ingress-changes", \.ingressChanges, .flag,
                "true: every user of Home Assistant may make changes there. It does not name administrators."),
            .init(
                "profiler", \.profiler, .flag,
                "true: allow meterctl profiler, whose addresses show the power of meters without a login "
                    + "(Docs/Web.md#the-firefox-profiler)."),
            .init(
                "tls", \.tls, .choice,
                "\"self-signed\": https for the network, with a certificate that meterd makes and renews "
                    + "(Docs/Web.md#https). For a certificate of your own leave this off and give the two files "
                    + "below."),
            .init(
                "certificate-file", optional: \.certificatePath, .file, example: #""/etc/meterd/web-certificate.pem""#,
                "Certificate in PEM with its chain (fullchain.pem). meterd reads it again when it changes."),
            .init(
                "key-file", optional: \.keyPath, .file, example: #""/etc/meterd/web-key.pem""#,
                "Its key in PEM, not encrypted; owner root, group meterd, mode 0640."),
        ])

    static func check(_ web: Configuration.Web) throws(ConfigurationError) {
        switch (web.certificatePath, web.keyPath) {
        case (nil, nil): return
        case (_?, _?):
            guard web.tls == .off else {
                throw ConfigurationError(
                    "web.tls is \"self-signed\", and there is a certificate-file", next: "take one of them away")
            }
        case (_?, nil):
            throw ConfigurationError("web.certificate-file has no key", next: "name the file of its key as key-file")
        case (nil, _?):
            throw ConfigurationError(
                "web.key-file has no certificate", next: "name the file of its certificate as certificate-file")
        }
    }

    static let store = ConfigurationTable(
        "store", defaults: settings,
        keys: [
            .init(
                "flush-interval", \.flushInterval, .time(.seconds(1) ... .seconds(3600)), example: #""60s""#,
                "Longest wait of a reading in memory: what a power cut loses. {range}."),
            .init(
                "raw-days", \.rawDays, .integer(days),
                "After so many days, single readings of a meter with more than four a second become seconds, each with "
                    + "minimum, maximum and mean."),
            .init(
                "keep-days", \.keepDays, .integer(days),
                "After so many days, meterd deletes single readings and seconds."),
            .init(
                "minute-days", \.minuteDays, .integer(days),
                "After so many days, meterd deletes minutes. Hours stay forever: some kilobytes a day."),
            .init(
                "max-megabytes", \.maxMegabytes, .integer(16...1_000_000),
                "Above this size meterd deletes the oldest readings and seconds."),
        ])
}

extension ConfigurationType<Configuration.Cloud.Listen> {
    static func listen(example: String) -> Self {
        .parsed("address:port, as \(example)") { text in
            IPAddress.hostAndPort(text).map { Value(host: $0.host, port: $0.port) }
        }
    }

    /// Loopback address. No other is allowed, because this listener has no login.
    fileprivate static var loopback: Self {
        Self(read: { entry throws(ConfigurationError) in
            let listen = try Self.listen(example: "127.0.0.1:8642").read(entry)
            guard IPAddress.isLoopback(listen.host) else {
                throw ConfigurationError(
                    "\(entry.key) cannot be \"\(listen)\", which the network reaches",
                    next: "meterctl web enable opens the page to the network, with a login")
            }
            return listen
        })
    }
}
