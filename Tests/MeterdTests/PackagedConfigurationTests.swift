import Foundation
import Testing

@testable import meterd

/// Packaging/meterd.toml, which the package installs, against what meterd reads and what Docs/Configuration.md explains.
struct PackagedConfigurationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    private func read(_ text: String) throws -> Configuration {
        var configuration = Configuration(environment: [:], userID: 0)
        try ConfigurationFile(text: text, path: "meterd.toml").apply(to: &configuration)
        return configuration
    }

    /// The file with every key and table switched on: a "#" that no blank follows.
    private func switchedOn() throws -> String {
        try text("Packaging/meterd.toml").split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
    }

    /// "cloud.serve" and the like; those of `[[port]]` begin with "port.".
    private func keys(of toml: Substring) -> Set<String> {
        var table = ""
        var keys: Set<String> = []
        for line in toml.split(separator: "\n") {
            if let match = line.wholeMatch(of: #/\[\[?([a-z]+)\]\]?/#) {
                table = "\(match.1)."
            } else if let match = line.prefixMatch(of: #/([a-z-]+) = /#) {
                keys.insert(table + match.1)
            }
        }
        return keys
    }

    /// Those that the reader lets pass: its calls of checkKeys list them.
    private func keysOfReader() throws -> Set<String> {
        let folder = Self.root.appending(path: "Sources/meterd/Configuration")
        var keys: Set<String> = []
        var tables: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let source = try String(contentsOf: file, encoding: .utf8)
            for call in source.matches(of: #/of: \w+, in: "([a-z.]*)",\s*known: \[([^\]]*)\]/#) {
                tables.insert("\(call.1)")
                for key in call.2.matches(of: #/"([^"]+)"/#) { keys.insert("\(call.1)\(key.1)") }
            }
        }
        #expect(tables.isSuperset(of: ["", "store.", "cloud.", "bluetooth.", "web.", "mqtt.", "port."]))
        return keys.filter { !tables.contains("\($0).") }
    }

    @Test func asInstalled_itChangesNothing() throws {
        #expect(try read(text("Packaging/meterd.toml")) == Configuration(environment: [:], userID: 0))
    }

    @Test func everyKeyThatIsRead_isInIt() throws {
        let inIt = keys(of: Substring(try switchedOn()))
        let known = try keysOfReader()
        #expect(known.count > 20)
        #expect(inIt == known, "Packaging/meterd.toml: \(inIt.symmetricDifference(known).sorted())")
    }

    @Test func everyKeyThatIsExplained_isInIt() throws {
        let blocks = try text("Docs/Configuration.md").split(separator: "```toml\n").dropFirst()
            .compactMap { $0.split(separator: "```").first }
        let explained = blocks.reduce(into: Set<String>()) { $0.formUnion(keys(of: $1)) }
        let inIt = keys(of: Substring(try switchedOn()))
        #expect(inIt == explained, "Docs/Configuration.md: \(inIt.symmetricDifference(explained).sorted())")
    }

    /// What it shows as defaults are the defaults, and its examples are legal.
    @Test func switchedOn_onlyItsExamplesDiffer() throws {
        var configuration = try read(switchedOn())
        let defaults = Configuration(environment: [:], userID: 0)
        #expect(configuration.hostName == "bench pi")
        #expect(configuration.bluetooth.adapters.count == 1)
        #expect(configuration.web.names == ["meters.example.org"])
        #expect(configuration.mqtt.address != nil)
        #expect(configuration.ports.count == 1)

        configuration.hostName = defaults.hostName
        configuration.bluetooth.adapters = defaults.bluetooth.adapters
        configuration.web.names = defaults.web.names
        configuration.mqtt.address = defaults.mqtt.address
        configuration.mqtt.credentialsPath = defaults.mqtt.credentialsPath
        configuration.mqtt.certificatePath = defaults.mqtt.certificatePath
        configuration.ports = defaults.ports
        #expect(configuration == defaults)
    }
}
