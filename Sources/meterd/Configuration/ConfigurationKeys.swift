import BluetoothCore
import Domain
import GatewayServer
import ServerKit

/// Every key of meterd.toml.
enum ConfigurationKeys {
    private static let settings = Configuration(environment: [:], userID: 0)
    private static let days = 1...36_500

    static let general = ConfigurationTable(
        "", defaults: settings,
        keys: [
            .init(
                "state-directory", \.stateDirectory, .text, overrides: ["METERD_STATE_DIRECTORY", "--state-directory"],
                "Where the store is. Default: /var/lib/meterd for root, ~/.local/state/meterd for anybody else. As a "
                    + "service meterd may write to its own folders only, this one and the socket's: another place needs "
                    + "ReadWritePaths= too (systemctl edit meterd)."),
            .init(
                "socket", \.socketPath, .text, overrides: ["METERD_SOCKET", "--socket"],
                "The control socket. Default: /run/meterd/control.sock for root, $XDG_RUNTIME_DIR/meterd/control.sock "
                    + "otherwise."),
            .init("log-level", \.logLevel, .choice, overrides: ["METERD_LOG_LEVEL", "--log-level"], "{range}."),
            .init(
                "host-name", optional: \.hostName,
                .text("a text of 1 to 64 characters") {
                    (1...64).contains($0.count) && !$0.contains(where: \.isControl)
                },
                example: #""bench pi""#, overrides: ["METERD_HOST_NAME"],
                "What other hosts call this one. Default: the system's host name."),
        ])

    static let cloud = ConfigurationTable(
        "cloud", defaults: Configuration.Cloud(),
        keys: [
            .init(
                "serve", \.serves, .flag,
                "This meterd serves the cloud itself, so that a home needs no other machine (Docs/Operating.md)."),
            .init("listen", \.listen, .listen(example: "0.0.0.0:8643"), "Where it serves it."),
            .init(
                "policy", \.policy, .choice,
                "\"strict\": two hosts never both talk to a meter, at the price of cutting a link that cannot be "
                    + "confirmed. A host may be stricter than its zone, never laxer."),
            .init(
                "lease-ttl", \.timeToLive, .time(LeaseTerms.timeToLiveRange), example: #""120s""#,
                "How long a lease lasts without renewal. {range}; the zone may cap it."),
            .init(
                "connections-per-address", \.connectionsPerAddress, .integer(1...4096),
                "Connections that one address (the /64 of an IPv6 address) may have open to the cloud that is served "
                    + "here; a host needs two. {range}. This machine and proxies may have eight times as many, and so "
                    + "may all together that have shown no token."),
            .init(
                "proxies", \.proxies,
                .list(
                    of: "addresses", each: "an address",
                    next: "it takes addresses without port, as \"192.168.1.2\""
                ) { IPAddress.bytes(of: $0) == nil ? nil : $0 },
                example: #"["192.168.1.2"]"#,
                "Proxies, through which many hosts come to the cloud that is served here: their addresses. Default: no "
                    + "proxies."),
        ])

    static let relay = ConfigurationTable(
        "relay", defaults: Configuration.Relay(),
        keys: [
            .init(
                "share", \.shares, .flag,
                "false: what this host's meters measure is not shown on other hosts, which say so."),
            .init(
                "commands", \.takesCommands, .flag,
                "false: other hosts may not send commands to this host's meters, nor begin or end recordings here."),
        ])

    static let bluetooth = ConfigurationTable(
        "bluetooth", defaults: Configuration.Bluetooth(),
        keys: [
            .init("use", \.isUsed, .flag, "false: the radios are left alone."),
            .init(
                "adapters", \.adapters,
                .list(
                    of: "addresses", each: "an address of an adapter",
                    next: "meterctl status shows them; hci0 and the like change from boot to boot"
                ) { MACAddress($0) },
                example: #"["00:1A:7D:DA:71:13"]"#,
                "Only these adapters, by their own address (meterctl status). Default: all there are."),
            .init(
                "links", \.linksMax, .integer(1...64),
                "How many links to meters one adapter is taken to bear at once. {range}; cheap adapters bear 5."),
            .init(
                "scan", \.search, .choice,
                "How much of the air looking for meters takes. \"gentle\": half of it while a meter that is wanted is "
                    + "missing, 5 s a minute otherwise. \"always\": half of it and more. \"on-demand\": as gentle, and "
                    + "nothing at all while no meter is missing. meterctl scan looks in any case."),
        ])

    static let discovery = ConfigurationTable(
        "discovery", defaults: Configuration.Discovery(),
        keys: [
            .init(
                "browse", \.browses, .flag,
                "false: meterctl scan and meterctl doctor do not ask the network, through Avahi, for ESPHome nodes that "
                    + "may be Bluetooth proxies. Nothing that answers is used unless it is named above."),
            .init(
                "announce", \.announces, .flag,
                "false: the network is not told, through Avahi, of the web page where it is open to it, nor of a cloud "
                    + "that meterd serves to it."),
        ])

    static let web = ConfigurationTable(
        "web", defaults: Configuration.Web(),
        keys: [
            .init("serve", \.serves, .flag, "false: there is no web page."),
            .init(
                "listen", \.listen, .loopback, overrides: ["METERD_WEB_LISTEN"],
                "Where this machine reaches it: a loopback address. Opening it to the network is meterctl web enable "
                    + "(Docs/Web.md)."),
            .init(
                "names", \.names,
                .list(
                    of: "names", each: "a name of a host",
                    next: "it takes names without port, as \"meters.example.org\""
                ) { WebNames.isName($0) ? $0 : nil },
                example: #"["meters.example.org"]"#,
                "Further names under which browsers ask for it. The machine's own name, that name with .local and its "
                    + "addresses are known."),
            .init(
                "proxies", \.proxies,
                .list(
                    of: "addresses", each: "an address or a network",
                    next: "it takes them without port, as \"127.0.0.1\" or \"192.168.1.0/24\""
                ) { IPNetwork($0) },
                example: #"["127.0.0.1"]"#,
                "Servers in front of the page, by address or network: their X-Forwarded-Prefix, -Proto and -For and "
                    + "X-Ingress-Path count (Docs/Web.md#behind-another-server). Default: no servers."),
            .init(
                "ingress", optional: \.ingress, .listen(example: "172.30.32.1:8099"), example: #""172.30.32.1:8099""#,
                "Where Home Assistant shows the page without another login: it serves connections from Home Assistant's "
                    + "Supervisor (172.30.32.2) alone (Docs/Web.md#inside-home-assistant). Default: nowhere."),
            .init(
                "ingress-changes", \.ingressChanges, .flag,
                "true: every user of Home Assistant may make changes there. It does not say who is an administrator."),
            .init(
                "profiler", \.profiler, .flag,
                "true: meterctl profiler makes addresses through which Firefox and profiler.firefox.com read the power of "
                    + "meters without a login (Docs/Web.md#the-firefox-profiler)."),
            .init(
                "tls", \.tls, .choice,
                "\"self-signed\": the network reaches the page over https, with a certificate that meterd makes and renews "
                    + "(Docs/Web.md#https). For a certificate of your own leave this off and give the two files below."),
            .init(
                "certificate-file", optional: \.certificatePath, .file, example: #""/etc/meterd/web-certificate.pem""#,
                "A certificate for https in PEM, followed by those that lead to its authority (fullchain.pem). meterd reads "
                    + "it again when it changes."),
            .init(
                "key-file", optional: \.keyPath, .file, example: #""/etc/meterd/web-key.pem""#,
                "Its key in PEM, not encrypted; for the service owner root, group meterd, mode 0640."),
        ])

    /// Checks the keys that depend on each other.
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
                "How long a reading may wait in memory: what a power cut costs at most. {range}."),
            .init(
                "raw-days", \.rawDays, .integer(days),
                "Of a meter that tells more than four times a second, single readings older than this many days are "
                    + "replaced by seconds, each with least, greatest and mean. Slower ones take less room as they are."
            ),
            .init(
                "keep-days", \.keepDays, .integer(days),
                "Single readings and seconds older than this many days are deleted."),
            .init(
                "minute-days", \.minuteDays, .integer(days),
                "Minutes older than this many days are deleted. Hours are kept for ever: some kilobytes a day."),
            .init(
                "max-megabytes", \.maxMegabytes, .integer(16...1_000_000),
                "Above this size the oldest readings and seconds are deleted."),
        ])
}

extension ConfigurationType<Configuration.Cloud.Listen> {
    static func listen(example: String) -> Self {
        .parsed("address:port, as \(example)") { text in
            IPAddress.hostAndPort(text).map { Value(host: $0.host, port: $0.port) }
        }
    }

    /// An address that other machines do not reach: there is no login.
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
