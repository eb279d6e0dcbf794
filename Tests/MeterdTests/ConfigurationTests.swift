import BluetoothCore
import Domain
import ESPHomeCore
import Gateway
import GatewayAPI
import Logging
import MeterCodec
import ProxyTransport
import Testing

@testable import meterd

struct ConfigurationTests {
    private func defaults() -> Configuration { Configuration(environment: [:], userID: 0) }

    private func read(_ text: String) throws -> Configuration { try Configuration(reading: text) }

    private func failure(of text: String) -> ConfigurationError? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return error as? ConfigurationError
        }
    }

    // MARK: - Proxies

    @Test func proxies_areRead() throws {
        let text = """
            [bluetooth]
            scan = "always"
            [[bluetooth.proxy]]
            host = "garage.local"
            key-file = "/etc/meterd/garage-key"
            name = "garage"
            mac = "a0b765001122"
            [[bluetooth.proxy]]
            host = "192.168.1.20:6054"
            plaintext = true
            [[bluetooth.proxy]]
            host = "[fd00::1]:6053"
            plaintext = true
            [discovery]
            browse = false
            announce = false
            """
        let configuration = try read(text)
        let bluetooth = configuration.bluetooth
        #expect(!configuration.discovery.browses && !configuration.discovery.announces)
        #expect(bluetooth.search == .always)
        #expect(
            bluetooth.proxies == [
                NodeSettings(
                    host: "garage.local", keyPath: "/etc/meterd/garage-key", name: "garage",
                    mac: MACAddress(bits: 0xA0B7_6500_1122)),
                NodeSettings(host: "192.168.1.20", port: 6054, keyPath: nil),
                NodeSettings(host: "fd00::1", keyPath: nil),
            ])
    }

    @Test(arguments: [
        ("name = \"x\"", "has no host"), ("host = \"a b\"", "host cannot be"), ("host = \"a:b\"", "host cannot be"),
        ("host = \"a\"", "has no key"), ("host = \"a\"\nkey-file = \"/k\"\nplaintext = true", "has both"),
        ("host = \"a\"\nplaintext = true\nmac = \"1\"", "mac cannot be"),
        ("host = \"a\"\nplaintext = true\nkey = \"x\"", "unknown key"),
        (
            "host = \"a\"\nplaintext = true\n[[bluetooth.proxy]]\nhost = \"a\"\nplaintext = true",
            "two [[bluetooth.proxy]]"
        ),
    ])
    func proxyThatCannotBe_isRefused(keys: String, words: String) {
        #expect(failure(of: "[[bluetooth.proxy]]\n\(keys)\n")?.message.contains(words) == true)
    }

    @Test func boards_areReadAndDeclared() throws {
        let text = """
            [[esphome.meter]]
            host = "shelf.local"
            mac = "a0b765001123"
            key-file = "/etc/meterd/shelf-key"
            name = "Shelf"
            [[esphome.meter]]
            host = "192.168.1.20:6054"
            mac = "a0b765001124"
            plaintext = true
            connect = false
            max-age = "3s"
            current = "current_a"
            temperature = ""
            """
        let configuration = try read(text)
        let (one, two) = (MACAddress(bits: 0xA0B7_6500_1123), MACAddress(bits: 0xA0B7_6500_1124))
        let table = "[[esphome.meter]]"
        #expect(
            configuration.boards == [
                NodeMeterSettings(
                    NodeSettings(host: "shelf.local", keyPath: "/etc/meterd/shelf-key", mac: one, table: table)),
                NodeMeterSettings(
                    NodeSettings(host: "192.168.1.20", port: 6054, keyPath: nil, mac: two, table: table),
                    sensors: [.current: "current_a", .temperature: ""], maxAge: .seconds(3)),
            ])
        let shelf = DeclaredPort(
            .network(host: "shelf.local"), model: .esphome, id: .mac(one), name: "Shelf")
        let other = DeclaredPort(.network(host: "192.168.1.20:6054"), model: .esphome, id: .mac(two))
        #expect(
            configuration.ports == [.init(declared: shelf, connects: true), .init(declared: other, connects: false)])
    }

    @Test(arguments: [
        ("[[esphome.meter]]\nmac = \"A0:B7:65:00:11:22\"", "a [[esphome.meter]] has no host"),
        ("[[esphome.meter]]\nhost = \"a\"", "the [[esphome.meter]] a has no key"),
        ("[[esphome.meter]]\nhost = \"a\"\nplaintext = true", "the [[esphome.meter]] a has no mac"),
        ("[[esphome.meter]]\nhost = \"a\"\nmac = \"00:00:00:00:00:00\"", "mac cannot be"),
        ("[[esphome.meter]]\nmax-age = \"0s\"", "max-age cannot be"),
        ("[[esphome.metre]]", "unknown key \"esphome.metre\""), ("esphome = 1", "esphome has the wrong type"),
        (
            String(repeating: "[[esphome.meter]]\nhost = \"a\"\nmac = \"A0B765001122\"\nplaintext = true\n", count: 2),
            "two [[esphome.meter]]"
        ),
    ])
    func boardThatCannotBe_isRefused(text: String, words: String) {
        #expect(failure(of: text)?.message.contains(words) == true, "\(failure(of: text)?.message ?? "")")
    }

    @Test func smartPlugs_areReadAndDeclared() throws {
        let configuration = try read(
            """
            [mqtt]
            url = "mqtt://localhost"
            [[mqtt.meter]]
            preset = "tasmota"
            topic = "desk"
            poll = true
            mac = "a0b765001125"
            name = "Desk"
            [[mqtt.meter]]
            preset = "shelly"
            topic = "plug"
            component = "pm1:0"
            connect = false
            max-age = "3s"
            [[mqtt.meter]]
            topic = "zigbee2mqtt/lamp"
            power = "power"
            current = { path = "meter.0.current", unit = "mA" }
            energy = { path = "", factor = 3.6, topic = "lamp/energy" }
            availability = "zigbee2mqtt/lamp/availability"
            time = "last_seen"
            """)
        var shelly = try #require(SmartPlugPreset.shellyStatus.description("plug", component: "pm1:0"))
        shelly.maxAge = .seconds(3)
        let topic = "zigbee2mqtt/lamp"
        var lamp = SmartPlugDescription(
            key: topic,
            values: [
                .init(.current, topic: topic, path: ["meter", "0", "current"], unit: ScaledUnit(factor: 0.001)),
                .init(.power, topic: topic, path: ["power"]),
                .init(.energy, topic: "lamp/energy", path: [], unit: ScaledUnit(factor: 3.6)),
            ])
        (lamp.availability, lamp.timePath) = (.init(topic: "\(topic)/availability"), ["last_seen"])
        let desk = try #require(SmartPlugPreset.tasmotaTelemetry.description("desk", isPolled: true))
        #expect(configuration.smartPlugs == [desk, shelly, lamp])
        let id = MeterID.mac(MACAddress(bits: 0xA0B7_6500_1125))
        #expect(
            configuration.ports == [
                .init(
                    declared: DeclaredPort(.network(host: "mqtt:desk"), model: desk.model, id: id, name: "Desk"),
                    connects: true),
                .init(
                    declared: DeclaredPort(.network(host: "mqtt:plug/pm1:0"), model: shelly.model), connects: false),
                .init(declared: DeclaredPort(.network(host: "mqtt:\(topic)"), model: lamp.model), connects: true),
            ])
    }

    @Test(arguments: [
        ("preset = \"tasmota\"", "has no topic"), ("topic = \"a/#\"", "topic cannot be"),
        ("topic = \"a\"", "has neither a preset nor"), ("topic = \"a\"\nfrequency = \"f\"", "has neither a preset nor"),
        ("topic = \"a\"\npreset = \"tasmotta\"", "preset cannot be"),
        ("topic = \"a\"\npreset = \"shelly\"\npoll = true", "has poll = true"),
        ("topic = \"a\"\npreset = \"shelly\"\ncomponent = \"pm2:0\"", "has the component \"pm2:0\""),
        ("topic = \"a\"\npreset = \"shelly\"\npower = \"p\"", "has a preset, and power"),
        ("topic = \"a\"\npower = \"p\"\nchannel = 1", "has a channel"),
        ("topic = \"a\"\npower = { path = \"p\", unit = \"V\" }", "power.unit cannot be"),
        ("topic = \"a\"\npower = { path = \"p\", factor = 0 }", "power.factor cannot be"),
        ("topic = \"a\"\npower = { paht = \"p\" }", "unknown key"),
        ("topic = \"a\"\npower = 1", "power has the wrong type"),
        ("topic = \"a\"\npower = { path = \"p\", unit = \"W\", factor = 2 }", "has unit and factor"),
        ("topic = \"metergateway/meter/a/state\"\npower = \"power_W\"", "which meterd itself publishes"),
        ("topic = \"a\"\npower = \"p\"\n[[mqtt.meter]]\ntopic = \"a\"\npower = \"p\"", "two meters have"),
    ])
    func smartPlugThatCannotBe_isRefused(keys: String, words: String) {
        let found = failure(of: "[mqtt]\nurl = \"mqtt://localhost\"\n[[mqtt.meter]]\n\(keys)\n")
        #expect(found?.message.contains(words) == true, "\(found?.message ?? "")")
    }

    // MARK: - Meters

    @Test(arguments: [("3.6V", 3600), ("5 V", 5000), ("800mV", 800)])
    func voltageThatMetersMaySupply_isRead(text: String, millivolts: Int) throws {
        let catalogue = try read("[meter]\nmax-voltage = \"\(text)\"\n[meter.a]\nformula = \"b.power\"").catalogue
        let rule = catalogue.driver(for: .ppk2)?.profile.commands.first { $0.kind == .sourceVoltage }
        #expect(rule?.numbers == 800...millivolts)
        let usual = try #require(MeterCatalogue.standard.driver(for: .ppk2)).profile
        #expect(!usual.commands.contains { $0.kind == .sourceVoltage })
    }

    @Test func computedMeters_areReadAndDeclared() throws {
        let text = """
            [meter.losses]
            formula = 'charger.power - "Desk laptop".power'
            name = "Charging losses"
            [meter.calibrated]
            formula = "bench.voltage * 1.0023 + 0.004"
            """
        let configuration = try read(text)
        #expect(
            configuration.formulas == [
                "losses": try FormulaParser.formula("charger.power - \"Desk laptop\".power"),
                "calibrated": try FormulaParser.formula("bench.voltage * 1.0023 + 0.004"),
            ])
        #expect(
            configuration.ports
                == [("calibrated", "calibrated"), ("losses", "Charging losses")].map { name, title in
                    .init(
                        declared: DeclaredPort(.computed(name: name), model: .byFormula, name: title), connects: true)
                })
    }

    @Test(arguments: [
        ("meter = 1", "meter has the wrong type"), ("[meter]\nlosses = 1", "meter.losses has the wrong type"),
        ("[meter]\nmax-voltage = 3.6", "meter.max-voltage has the wrong type"),
        ("[meter]\nmax-voltage = \"3.6\"", "meter.max-voltage cannot be \"3.6\""),
        ("[meter]\nmax-voltage = \"5.1V\"", "meter.max-voltage cannot be \"5.1V\""),
        ("[meter.\"a b\"]", "[meter.a b] cannot be called that"), ("[meter.losses]", "[meter.losses] has no formula"),
        ("[meter.losses]\nformula = 1", "meter.losses.formula has the wrong type"),
        ("[meter.losses]\nformula = \"a.power + b.voltage\"", "meter.losses.formula, character 11: power and voltage"),
        ("[meter.losses]\nformula = \"a.power\"\nunit = \"W\"", "unknown key \"meter.losses.unit\""),
        ("[meter.losses]\nformula = \"losses.power\"", "meter.losses.formula names \"losses\", which is computed"),
        (
            "[meter.a]\nformula = \"b.power\"\nname = \"A B\"\n[meter.c]\nformula = '\"a b\".power'",
            "meter.c.formula names \"a b\""
        ),
        (
            (0..<33).map { "[meter.m\($0)]\nformula = \"a.power\"\n" }.joined(),
            "there are 33 [meter.…]"
        ),
    ])
    func computedMeterThatCannotBe_isRefused(text: String, words: String) {
        #expect(failure(of: text)?.message.contains(words) == true, "\(failure(of: text)?.message ?? "")")
    }

    // MARK: - Defaults

    @Test func rootsDefaults_areTheSystemsPlaces() {
        let configuration = Configuration(environment: ["HOME": "/root", "XDG_RUNTIME_DIR": "/run/user/0"], userID: 0)

        #expect(configuration.stateDirectory == "/var/lib/meterd")
        #expect(configuration.socketPath == "/run/meterd/control.sock")
        #expect(configuration.logLevel == .info)
        #expect(configuration.flushInterval == .seconds(60))
        #expect(configuration.keepDays == 400)
        #expect(configuration.maxMegabytes == 2048)
        #expect(configuration.ports.isEmpty)
    }

    @Test func usersDefaults_areTheirOwnPlaces() {
        let configuration = Configuration(
            environment: ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1000"], userID: 1000)

        #expect(configuration.stateDirectory == "/home/ada/.local/state/meterd")
        #expect(configuration.socketPath == "/run/user/1000/meterd/control.sock")
    }

    /// systemd makes them for a service, which runs as a user of its own.
    @Test func foldersOfAService_areTaken_unlessSomebodySaysOtherwise() throws {
        let environment = ["STATE_DIRECTORY": "/var/lib/meterd", "RUNTIME_DIRECTORY": "/run/meterd"]
        var configuration = Configuration(environment: environment, userID: 998)
        #expect(configuration.stateDirectory == "/var/lib/meterd")
        #expect(configuration.socketPath == "/run/meterd/control.sock")
        // Where root's helper looks (Packaging/meterd-rebind.path).
        #expect(configuration.bluetooth.requestFolder == "/run/meterd")

        try ConfigurationFile(text: "state-directory = \"/data\"", path: "meterd.toml").apply(to: &configuration)
        try configuration.apply(environment: environment.merging(["METERD_SOCKET": "/tmp/s"]) { $1 })
        #expect(configuration.stateDirectory == "/data")
        #expect(configuration.socketPath == "/tmp/s")
    }

    @Test(arguments: ["", "relative", "/var/lib/a:/var/lib/b"])
    func otherFoldersOfAService_areNotOurs(folders: String) {
        let environment = ["HOME": "/home/ada", "STATE_DIRECTORY": folders, "RUNTIME_DIRECTORY": folders]
        let configuration = Configuration(environment: environment, userID: 1000)

        #expect(configuration.stateDirectory == "/home/ada/.local/state/meterd")
        #expect(configuration.socketPath == "/tmp/meterd-1000/control.sock")
        #expect(configuration.bluetooth.requestFolder == nil)
    }

    @Test func xdgStateHome_isObeyed() {
        let configuration = Configuration(
            environment: ["HOME": "/home/ada", "XDG_STATE_HOME": "/data/state"], userID: 1000)

        #expect(configuration.stateDirectory == "/data/state/meterd")
    }

    @Test func withoutAHomeOrSession_everythingIsUnderTmp() {
        let configuration = Configuration(environment: [:], userID: 1000)

        #expect(configuration.stateDirectory == "/tmp/meterd-1000/.local/state/meterd")
        #expect(configuration.socketPath == "/tmp/meterd-1000/control.sock")
    }

    @Test func emptyVariables_countAsNotSet() throws {
        let empty = ["HOME": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": ""]
        var configuration = Configuration(environment: empty, userID: 1000)
        #expect(configuration == Configuration(environment: [:], userID: 1000))

        try configuration.apply(
            environment: ["METERD_STATE_DIRECTORY": "", "METERD_SOCKET": "", "METERD_LOG_LEVEL": ""])
        #expect(configuration == Configuration(environment: [:], userID: 1000))
    }

    // MARK: - The file

    @Test func everyKey_isRead() throws {
        let configuration = try read(
            """
            state-directory = "/data/meterd"
            socket = "/data/control.sock"
            log-level = "Debug"

            [store]
            flush-interval = "30s"
            keep-days = 30
            raw-days = 7
            minute-days = 3650
            max-megabytes = 512

            [bluetooth]
            use = false
            adapters = ["00-1a-7d-da-71-13"]
            links = 7
            scan = "on-demand"

            [web]
            serve = false
            listen = "[::1]:9000"
            names = ["meters.example.org"]
            certificate-file = "/etc/acme/fullchain.pem"
            key-file = "/etc/acme/key.pem"

            [[port]]
            path = "/dev/rfcomm0"
            model = "UM25C"
            id = "aa-bb-cc-dd-ee-ff"
            name = "Bench"
            connect = false

            [[port]]
            path = "/dev/ttyUSB0"
            model = "tc66c"
            """)

        #expect(configuration.stateDirectory == "/data/meterd")
        #expect(configuration.socketPath == "/data/control.sock")
        #expect(configuration.logLevel == .debug)
        #expect(configuration.flushInterval == .seconds(30))
        #expect(configuration.keepDays == 30)
        #expect(configuration.maxMegabytes == 512)
        #expect(!configuration.bluetooth.isUsed)
        #expect(configuration.bluetooth.adapters == [MACAddress(bits: 0x001A_7DDA_7113)])
        #expect(configuration.bluetooth.linksMax == 7)
        #expect(configuration.bluetooth.search == .onDemand)
        #expect(!configuration.web.serves)
        #expect(configuration.web.listen == .init(host: "::1", port: 9000))
        #expect(configuration.web.names == ["meters.example.org"])
        #expect(configuration.web.certificatePath == "/etc/acme/fullchain.pem")
        #expect(configuration.web.keyPath == "/etc/acme/key.pem")
        #expect(try read("[web]\ntls = \"self-signed\"").web.tls == .selfSigned)
        let bench = DeclaredPort(
            .serial(path: "/dev/rfcomm0"), model: .um25c, id: .mac(MACAddress(bits: 0xAABB_CCDD_EEFF)), name: "Bench")
        #expect(
            configuration.ports == [
                .init(declared: bench, connects: false),
                .init(declared: DeclaredPort(.serial(path: "/dev/ttyUSB0"), model: .tc66c), connects: true),
            ])
        let limits = configuration.recorderLimits
        #expect(limits.flushInterval == .seconds(30))
        #expect(limits.retention.seconds == .seconds(30 * 86_400))
        #expect(limits.retention.single == .seconds(7 * 86_400))
        #expect(limits.retention.minutes == .seconds(3650 * 86_400))
        #expect(limits.maxBytes == 512 * 1024 * 1024)
    }

    @Test func emptyFile_changesNothing() throws {
        #expect(try read("") == defaults())
        #expect(try read("# nothing\n[store]\n") == defaults())
    }

    @Test(arguments: [
        ("stat-directory = \"/x\"", "stat-directory", "state-directory"), ("sockets = \"/x\"", "sockets", "socket"),
        ("loglevel = \"info\"", "loglevel", "log-level"), ("[stores]", "stores", "store"),
        ("[[ports]]", "ports", "port"), ("[store]\nflush = \"1s\"", "store.flush", "store.flush-interval"),
        ("[store]\nkeep_days = 1", "store.keep_days", "store.keep-days"),
        ("[[port]]\npath = \"/dev/x\"\nmodel = \"um25c\"\nconect = true", "port.conect", "port.connect"),
    ])
    func unknownKey_namesTheNearest(_ text: String, _ key: String, _ nearest: String) {
        let error = failure(of: text)

        #expect(error?.message == "meterd.toml: unknown key \"\(key)\"")
        #expect(error?.next == "did you mean \"\(nearest)\"?")
    }

    @Test(arguments: [
        ("state-directory = 1", "state-directory", "a text in quotes"), ("socket = true", "socket", "a text in quotes"),
        ("log-level = 3", "log-level", "a text in quotes"), ("store = 1", "store", "a table, [store]"),
        ("port = 1", "port", "an array of tables, [[port]]"), ("port = [1]", "port", "an array of tables, [[port]]"),
        ("[port]\npath = \"/dev/x\"", "port", "an array of tables, [[port]]"),
        ("[store]\nflush-interval = 60", "store.flush-interval", "a text in quotes"),
        ("[store]\nkeep-days = \"30\"", "store.keep-days", "a whole number from 1 to 36500"),
        ("[store]\nkeep-days = 1.5", "store.keep-days", "a whole number from 1 to 36500"),
        ("[store]\nmax-megabytes = false", "store.max-megabytes", "a whole number from 16 to 1000000"),
        ("[[port]]\npath = \"/dev/x\"\nmodel = \"um25c\"\nconnect = \"yes\"", "port.connect", "true or false"),
        ("[[port]]\npath = 7", "port.path", "a text in quotes"),
        ("bluetooth = false", "bluetooth", "a table, [bluetooth]"),
        ("[bluetooth]\nuse = \"no\"", "bluetooth.use", "true or false"),
        ("[bluetooth]\nadapters = \"hci0\"", "bluetooth.adapters", "a list of addresses"),
        ("web = true", "web", "a table, [web]"), ("[web]\nserve = 1", "web.serve", "true or false"),
        ("[web]\nlisten = 8642", "web.listen", "a text in quotes"),
        ("[web]\nnames = \"pi\"", "web.names", "a list of names"),
        ("[[port]]\npath = \"/dev/x\"\nmodel = \"um25c\"\nname = 7", "port.name", "a text in quotes"),
    ])
    func wrongType_namesTheKey_andWhatItTakes(_ text: String, _ key: String, _ expected: String) {
        let error = failure(of: text)

        #expect(error?.message == "meterd.toml: \(key) has the wrong type")
        #expect(error?.next == "it takes \(expected)")
    }

    @Test(arguments: [
        ("[store]\nkeep-days = 0", "store.keep-days cannot be 0", "it takes a whole number from 1 to 36500"),
        ("[store]\nkeep-days = 36501", "store.keep-days cannot be 36501", "it takes a whole number from 1 to 36500"),
        (
            "[store]\nmax-megabytes = 15", "store.max-megabytes cannot be 15",
            "it takes a whole number from 16 to 1000000"
        ),
        ("[store]\nflush-interval = \"0s\"", "store.flush-interval cannot be \"0s\"", "it takes a time from 1s to 1h"),
        (
            "[store]\nflush-interval = \"soon\"", "store.flush-interval cannot be \"soon\"",
            "it takes a time from 1s to 1h"
        ),
        ("[store]\nflush-interval = \"2h\"", "store.flush-interval cannot be \"2h\"", "it takes a time from 1s to 1h"),
        ("[bluetooth]\nlinks = 0", "bluetooth.links cannot be 0", "it takes a whole number from 1 to 64"),
        (
            "[bluetooth]\nscan = \"never\"", "bluetooth.scan cannot be \"never\"",
            "it takes \"always\", \"gentle\" or \"on-demand\""
        ),
        (
            "[bluetooth]\nadapters = [\"hci0\"]", "\"hci0\" in bluetooth.adapters is not an address of an adapter",
            "meterctl status shows them; hci0 and the like change from boot to boot"
        ),
        ("[web]\ntls = \"on\"", "web.tls cannot be \"on\"", "it takes \"off\" or \"self-signed\""),
        (
            "[web]\ncertificate-file = \"/x\"", "web.certificate-file has no key",
            "name the file of its key as key-file"
        ),
        (
            "[web]\nkey-file = \"/x\"", "web.key-file has no certificate",
            "name the file of its certificate as certificate-file"
        ),
        (
            "[web]\ntls = \"self-signed\"\ncertificate-file = \"/x\"\nkey-file = \"/y\"",
            "web.tls is \"self-signed\", and there is a certificate-file", "take one of them away"
        ),
        (
            "[web]\nlisten = \"0.0.0.0:8642\"", "web.listen cannot be \"0.0.0.0:8642\", which the network reaches",
            "meterctl web enable opens the page to the network, with a login"
        ),
        (
            "[web]\nlisten = \"localhost\"", "web.listen cannot be \"localhost\"",
            "it takes address:port, as 127.0.0.1:8642"
        ),
        (
            "[web]\nnames = [\"http://pi/\"]", "\"http://pi/\" in web.names is not a name of a host",
            "it takes names without port, as \"meters.example.org\""
        ),
        (
            "[web]\nproxies = [\"10.0.0.0/33\"]", "\"10.0.0.0/33\" in web.proxies is not an address or a network",
            "it takes them without port, as \"127.0.0.1\" or \"192.168.1.0/24\""
        ),
        (
            "[[port]]\nmodel = \"um25c\"", "a [[port]] has no path",
            "give it the device, for example path = \"/dev/rfcomm0\" or hidraw = \"/dev/hidraw3\""
        ),
        (
            "[[port]]\npath = \"rfcomm0\"", "a [[port]] has no path",
            "give it the device, for example path = \"/dev/rfcomm0\" or hidraw = \"/dev/hidraw3\""
        ),
        (
            "[[port]]\npath = \"/dev/x\"\nmodel = \"um25c\"\nid = \"bench\"", "port.id cannot be \"bench\"",
            "it takes a MAC address or a usb:… id"
        ),
    ])
    func badValue_saysWhatIsLegal(_ text: String, _ message: String, _ next: String) {
        let error = failure(of: text)

        #expect(error?.message == "meterd.toml: \(message)")
        #expect(error?.next == next)
    }

    @Test func rawHIDPort_isAPort() throws {
        var configuration = Configuration(environment: [:], userID: 0)
        let text = "[[port]]\nhidraw = \"/dev/hidraw3\"\nmodel = \"c1\"\nname = \"Bench\"\nconnect = false"
        try ConfigurationFile(text: text, path: "meterd.toml").apply(to: &configuration)
        let port = DeclaredPort(.hid(path: "/dev/hidraw3"), model: .c1, name: "Bench")
        #expect(configuration.ports == [.init(declared: port, connects: false)])
    }

    @Test func portWithBothKindsOfPath_isRefused() {
        var configuration = Configuration(environment: [:], userID: 0)
        let text = "[[port]]\nhidraw = \"/dev/hidraw3\"\npath = \"/dev/ttyUSB0\"\nmodel = \"c1\""
        #expect(throws: ConfigurationError.self) {
            try ConfigurationFile(text: text, path: "meterd.toml").apply(to: &configuration)
        }
    }

    @Test(arguments: ["[[port]]\npath = \"/dev/x\"", "[[port]]\npath = \"/dev/x\"\nmodel = \"um99\""])
    func portWithoutAKnownModel_listsThem(_ text: String) {
        let error = failure(of: text)

        #expect(error?.message == "meterd.toml: the [[port]] /dev/x names no model that is known")
        #expect(error?.next.hasPrefix("the models are um24c, um25c, um34c, a3-b, tc66") == true)
    }

    @Test func unknownLogLevel_listsThem() {
        let error = failure(of: "log-level = \"loud\"")

        #expect(error?.message.contains("log-level cannot be \"loud\"") == true)
        #expect(
            error?.next
                == #"it takes "trace", "debug", "info", "notice", "warning", "error" or "critical""#)
    }

    @Test func brokenTOML_namesTheFile_andTheLine() {
        let error = failure(of: "socket = \"/x\"\nlog-level =\n")

        #expect(error?.message.hasPrefix("meterd.toml: ") == true)
        #expect(error?.message.contains("2") == true)
    }

    // MARK: - The environment

    @Test func environment_countsForMoreThanTheFile() throws {
        var configuration = try read("state-directory = \"/file\"\nsocket = \"/file.sock\"\nlog-level = \"error\"")
        try configuration.apply(
            environment: [
                "METERD_STATE_DIRECTORY": "/env", "METERD_SOCKET": "/env.sock", "METERD_LOG_LEVEL": "TRACE",
            ])

        #expect(configuration.stateDirectory == "/env")
        #expect(configuration.socketPath == "/env.sock")
        #expect(configuration.logLevel == .trace)
    }

    @Test func unknownLogLevel_inTheEnvironment_namesTheVariable() {
        var configuration = defaults()
        let error = #expect(throws: ConfigurationError.self) {
            try configuration.apply(environment: ["METERD_LOG_LEVEL": "loud"])
        }

        #expect(error?.message == "METERD_LOG_LEVEL cannot be \"loud\"")
    }
}
