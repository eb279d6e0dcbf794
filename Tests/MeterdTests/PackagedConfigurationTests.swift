import Domain
import ESPHomeCore
import Foundation
import Gateway
import MeterCodec
import Notifications
import ProxyTransport
import ServerKit
import Testing

@testable import meterd

/// What `ConfigurationReference` says of the configuration, against what meterd reads, and the files that are made of it.
struct PackagedConfigurationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    private func read(_ text: String) throws -> Configuration { try Configuration(reading: text) }

    /// The file with every key and table switched on: a "#" that no blank follows.
    private func switchedOn() throws -> String {
        try text("Packaging/meterd.toml").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
    }

    @Test func asInstalled_itChangesNothing() throws {
        #expect(try read(text("Packaging/meterd.toml")) == Configuration(environment: [:], userID: 0))
    }

    @Test func packagedFile_isWhatMeterdPrints() throws {
        #expect(try text("Packaging/meterd.toml") == ConfigurationReference.text(isSwitchedOff: true))
    }

    @Test func reference_isWhatMeterdKnows() throws {
        let block = try text("Docs/Configuration.md").split(separator: "```toml\n").last?.split(separator: "```").first
        #expect(block.map { String($0) } == ConfigurationReference.text(isSwitchedOff: false))
    }

    /// A key that is listed and not read would take anything.
    @Test func everyKey_isRead() throws {
        for block in ConfigurationReference.blocks {
            for line in block.lines {
                // A date is what no key takes.
                let others = block.lines.filter { $0.key != line.key }.map { "\($0.key) = \($0.value)\n" }.joined()
                #expect(throws: ConfigurationError.self, "\(block.heading) \(line.key)") {
                    try read("\(block.heading)\n\(others)\(line.key) = 1979-05-27\n")
                }
            }
        }
    }

    /// A variable or flag that the reference names changes something, or its value is refused.
    @Test func everyOverride_isRead() {
        let defaults = Configuration(environment: [:], userID: 0)
        let names = ConfigurationReference.blocks.flatMap(\.lines).flatMap(\.otherWays)
        #expect(names.count == 8)
        for name in names {
            var configuration = defaults
            let isRefused = (try? configuration.apply(overrides: [name: "/x"])) == nil
            #expect(isRefused || configuration != defaults, "\(name)")
        }
    }

    /// What it shows as defaults are the defaults, and its examples are legal.
    @Test func switchedOn_onlyItsExamplesDiffer() throws {
        var configuration = try read(switchedOn())
        let defaults = Configuration(environment: [:], userID: 0)
        #expect(configuration.hostName == "bench pi")
        #expect(configuration.bluetooth.adapters.count == 1)
        #expect(configuration.cloud.proxies == ["192.168.1.2"])
        #expect(configuration.web.names == ["meters.example.org"])
        #expect(configuration.web.proxies == [IPNetwork("127.0.0.1")])
        #expect(configuration.mqtt.address != nil)
        #expect(configuration.influx.target?.place == .bucket("home", org: "home"))
        #expect(
            configuration.ports.map(\.declared.link.transport) == [.serial, .hid] + Array(repeating: .network, count: 4)
                + [.computed]
        )
        #expect(configuration.boards.map(\.node.host) == ["shelf.local"])
        #expect(
            configuration.smartPlugs.map(\.key) == ["desk#0", "shellyplusplugs-80646fd031f8/pm1:0", "zigbee2mqtt/lamp"])
        #expect(configuration.formulas["losses"]?.quantity == .power)
        #expect(configuration.catalogue.models.last?.rawValue == "ina226")
        #expect(configuration.notify.map(\.name) == ["lamp", "phone"])
        #expect(configuration.notify.map(\.kind) == ["exec", "ntfy"])

        configuration.hostName = defaults.hostName
        configuration.bluetooth.adapters = defaults.bluetooth.adapters
        #expect(configuration.bluetooth.proxies.map(\.host) == ["garage.local"])
        configuration.bluetooth.proxies = defaults.bluetooth.proxies
        configuration.cloud.proxies = defaults.cloud.proxies
        configuration.web.names = defaults.web.names
        #expect(configuration.web.certificatePath == "/etc/meterd/web-certificate.pem")
        (configuration.web.certificatePath, configuration.web.keyPath) = (nil, nil)
        configuration.web.proxies = defaults.web.proxies
        #expect(configuration.web.ingress == .init(host: "172.30.32.1", port: 8099))
        configuration.web.ingress = defaults.web.ingress
        configuration.mqtt.address = defaults.mqtt.address
        configuration.mqtt.credentialsPath = defaults.mqtt.credentialsPath
        configuration.mqtt.certificatePath = defaults.mqtt.certificatePath
        (configuration.influx.address, configuration.influx.tokenPath) = (nil, nil)
        (configuration.influx.bucket, configuration.influx.org) = (nil, nil)
        #expect(configuration.backup.directory == "/var/backups/meterd")
        configuration.backup.directory = nil
        configuration.catalogue = defaults.catalogue
        configuration.ports = defaults.ports
        configuration.boards = defaults.boards
        configuration.smartPlugs = defaults.smartPlugs
        configuration.formulas = defaults.formulas
        configuration.notify = defaults.notify
        #expect(configuration == defaults)
    }
}
