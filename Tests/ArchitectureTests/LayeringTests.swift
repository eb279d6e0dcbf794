import Foundation
import Testing

/// What each target may import. An import that is missing here is a layering decision that nobody made: SwiftPM itself
/// does not object to importing what a dependency depends on.
private let allowedImports: [String: Set<String>] = [
    // Layer 0: no I/O, no clock, no random numbers, no Foundation.
    "MeterModel": [],
    "Cryptography": ["COpenSSL"],
    "MeterCodec": ["MeterModel", "Cryptography"],
    "MeterSimulator": ["MeterModel", "MeterCodec", "Cryptography"],
    "BluetoothCore": ["MeterModel", "MeterCodec"],
    "ConnectionCore": ["MeterModel"],
    "SettingsCore": ["MeterModel"],
    "LeaseCore": ["MeterModel"],
    "SyncCore": ["MeterModel", "SettingsCore"],
    "MetricsCore": [],
    "HomeAutomationCore": ["MeterModel"],
    "RecordingCore": ["MeterModel", "SettingsCore", "AlertCore"],
    "AlertCore": ["MeterModel"],
    "ImportCore": ["MeterModel"],
    "InfluxCore": ["MeterModel"],
    "RelayCore": ["MeterModel", "LeaseCore"],
    "GatewayAPI": ["MeterModel", "CBuildInfo"],
    "CloudAPI": ["MeterModel", "SettingsCore", "LeaseCore"],
    // Between: what services and edges see of the loop, channels, the network and what is plugged in.
    "IOPorts": ["MeterModel"],
    // Layer 1.
    "Gateway": [
        "MeterModel", "IOPorts", "MeterCodec", "ConnectionCore", "SettingsCore", "LeaseCore", "SyncCore",
        "RecordingCore", "AlertCore", "ImportCore", "InfluxCore", "RelayCore", "GatewayAPI", "Logging",
        "Synchronization",
    ],
    "Cloud": ["MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Logging", "Synchronization"],
    // Layer 2: none of them imports another, but for LinuxIO.
    "LinuxIO": ["MeterModel", "MetricsCore", "IOPorts", "CLinux", "Glibc", "Synchronization"],
    "USBTransport": ["MeterModel", "MeterCodec", "IOPorts", "LinuxIO", "CUdev", "Glibc", "Synchronization"],
    "BlueZTransport": [
        "MeterModel", "BluetoothCore", "IOPorts", "Gateway", "GatewayAPI", "LinuxIO", "CBluetooth", "Glibc", "Logging",
        "Synchronization",
    ],
    "HomeAutomation": [
        "MeterModel", "HomeAutomationCore", "CloudAPI", "IOPorts", "LinuxIO", "CMosquitto", "Glibc", "Logging",
        "Synchronization",
    ],
    "Notifications": [
        "MeterModel", "AlertCore", "InfluxCore", "Gateway", "GatewayAPI", "LinuxIO", "AsyncHTTPClient",
        "FoundationEssentials", "Glibc", "NIOCore", "NIOHTTP1", "NIOPosix",
    ],
    "SimulatedPort": ["MeterModel", "MeterSimulator", "IOPorts", "LinuxIO"],
    "MeterStore": [
        "MeterModel", "MeterCodec", "SettingsCore", "SyncCore", "RecordingCore", "AlertCore", "LeaseCore", "Gateway",
        "StoreKit", "GRDB", "Foundation", "Glibc", "Synchronization",
    ],
    "CloudStore": [
        "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "LinuxIO", "StoreKit", "GRDB", "Foundation",
        "Glibc", "Synchronization",
    ],
    "CloudEtcd": [
        "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "AsyncHTTPClient", "FoundationEssentials",
        "Logging", "NIOCore", "NIOHTTP1", "NIOSSL", "Synchronization",
    ],
    "Certificates": ["COpenSSL", "Cryptography"],
    "CloudServer": [
        "MeterModel", "MetricsCore", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "LinuxIO", "ServerKit",
        "Certificates", "Cryptography", "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore",
        "NIOSSL",
        "FoundationEssentials", "Glibc", "Synchronization", "ServiceLifecycle",
    ],
    "CloudClient": [
        "MeterModel", "SettingsCore", "LeaseCore", "RelayCore", "SyncCore", "CloudAPI", "Gateway", "PinnedHTTP",
        "AsyncHTTPClient", "FoundationEssentials", "Glibc", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
        "Synchronization",
    ],
    "GatewayServer": [
        "MeterModel", "MeterCodec", "MetricsCore", "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore",
        "RelayCore", "AlertCore", "ImportCore",
        "IOPorts", "Gateway", "GatewayAPI", "ServerKit", "CZlib", "Cryptography", "FoundationEssentials", "Glibc",
        "Hummingbird",
        "HummingbirdCore", "Logging", "NIOCore", "ServiceLifecycle", "Synchronization",
    ],
    // What two servers have in common, two clients, and two stores: but for LinuxIO, the only targets of this layer that
    // others may import.
    "ServerKit": [
        "LinuxIO", "MeterModel", "Cryptography", "FoundationEssentials", "Glibc", "Hummingbird", "HummingbirdCore",
        "Logging", "NIOCore", "NIOHTTP1", "NIOTLS", "ServiceLifecycle", "Synchronization",
    ],
    "PinnedHTTP": ["CloudAPI", "AsyncHTTPClient", "Cryptography", "NIOCore", "NIOSSL"],
    "StoreKit": ["LinuxIO", "GRDB", "Glibc"],
    // What several programs have in common.
    "ProgramKit": [
        "MeterModel", "LinuxIO", "ArgumentParser", "FoundationEssentials", "Glibc", "Logging", "ServiceLifecycle",
        "Synchronization",
    ],
    "CloudHosting": [
        "MeterModel", "MetricsCore", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd", "CloudServer", "LinuxIO",
        "PinnedHTTP", "ServerKit", "AsyncHTTPClient", "FoundationEssentials", "Logging", "NIOCore", "NIOHTTP1",
        "ServiceLifecycle",
    ],
    // Layer 3: composition.
    "meterd": [
        "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI", "LinuxIO", "USBTransport",
        "BlueZTransport", "BluetoothCore", "SimulatedPort", "MeterStore", "GatewayServer", "SettingsCore", "LeaseCore",
        "SyncCore",
        "CloudAPI", "MetricsCore", "ServerKit", "HomeAutomation", "HomeAutomationCore", "AlertCore", "InfluxCore",
        "Notifications", "Cloud", "CloudHosting", "CloudServer", "CloudClient", "ProgramKit", "ArgumentParser",
        "FoundationEssentials",
        "Glibc",
        "Logging", "ServiceLifecycle", "TOMLKit", "UnixSignals", "Cryptography", "Synchronization",
    ],
    "meterctl": [
        "MeterModel", "MeterCodec", "MeterSimulator", "ImportCore", "GatewayAPI", "LinuxIO", "SimulatedPort",
        "ProgramKit", "USBTransport", "BluetoothCore", "ArgumentParser",
        "AsyncHTTPClient", "FoundationEssentials", "Glibc", "NIOCore", "NIOHTTP1", "Synchronization", "UnixSignals",
    ],
    "metercloud": [
        "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudHosting", "CloudStore", "CloudEtcd",
        "CloudServer",
        "ServerKit", "GatewayAPI", "LinuxIO", "ProgramKit", "ArgumentParser", "AsyncHTTPClient", "FoundationEssentials",
        "Glibc",
        "Logging", "NIOCore",
        "NIOHTTP1", "ServiceLifecycle", "Synchronization", "UnixSignals",
    ],
    "MeterdMain": ["meterd", "meterctl", "metercloud"],
    "MeterctlMain": ["meterctl"],
    "MetercloudMain": ["metercloud"],
    // Test support, which no target above may import.
    "MeterTestKit": [
        "CoreTestKit", "LinuxIO", "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI",
        "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore", "AlertCore", "CloudAPI", "Cloud", "Foundation",
        "Glibc", "Synchronization", "Logging",
    ],
    "CLinux": [],
    "CBluetooth": [],
    "CMosquitto": [],
    "COpenSSL": [],
    "CUdev": [],
    "CZlib": [],
    "CBuildInfo": [],
]

struct LayeringTests {
    @Test(arguments: allowedImports.keys.sorted())
    func target_importsOnlyWhatItMay(target: String) throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: target)) {
            let undeclared = imports(in: file.text).subtracting(allowedImports[target, default: []])
            #expect(undeclared.isEmpty, "\(file.name) imports \(undeclared.sorted())")
        }
    }

    @Test func everyTarget_hasARule() throws {
        #expect(Set(try SourceTree.targets(in: SourceTree.sources)) == Set(allowedImports.keys))
    }

    @Test func everyTarget_dependsOnWhatItImports() throws {
        let declared = try declaredDependencies()
        for (target, imported) in try importGraph() {
            let missing = imported.subtracting(declared[target, default: []])
            #expect(missing.isEmpty, "\(target) imports \(missing.sorted()), which Package.swift does not give it")
        }
    }

    /// Whoever edits a session does not rebuild the cloud, and a tool carries no engine that it never starts.
    @Test(arguments: ["metercloud", "meterctl"])
    func program_reachesNoEngineThatItDoesNotImport(program: String) throws {
        let engines: Set = [
            "Gateway", "MeterCodec", "MeterSimulator", "ConnectionCore", "SyncCore", "RecordingCore", "BlueZTransport",
        ]
        let imported = try importGraph()
        for graph in [imported, try declaredDependencies()] {
            let foreign = reach(of: program, in: graph).intersection(engines)
                .subtracting(imported[program, default: []])
            #expect(foreign.isEmpty, "\(program) reaches \(foreign.sorted())")
        }
    }

    @Test func reach_followsEveryArrow() {
        let graph: [String: Set<String>] = ["a": ["b", "c"], "b": ["d"], "d": ["a"], "e": ["f"]]
        #expect(reach(of: "a", in: graph) == ["a", "b", "c", "d"])
    }

    @Test func everyTarget_isFoundInPackage() throws {
        let declared = try declaredDependencies()
        #expect(declared["metercloud"]?.contains("Cloud") == true)
        #expect(Set(allowedImports.keys.filter { allowedImports[$0] != [] }).isSubset(of: Set(declared.keys)))
    }

    /// A check that cannot fail is worth nothing: this one finds what it looks for.
    @Test func importPattern_findsEveryForm() {
        let text = """
            import Alpha
            package import Beta
            @testable import Gamma
            @preconcurrency public import struct Delta.Thing
            // import Commented
            """
        #expect(imports(in: text) == ["Alpha", "Beta", "Gamma", "Delta"])
    }
}

/// Which of our own targets each of them imports.
private func importGraph() throws -> [String: Set<String>] {
    let targets = Set(try SourceTree.targets(in: SourceTree.sources))
    return try Dictionary(
        uniqueKeysWithValues: targets.map { target in
            let files = try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: target))
            return (target, files.reduce(into: Set()) { $0.formUnion(imports(in: $1.text)) }.intersection(targets))
        })
}

/// What Package.swift has each target depend on, of ours: those stand in quotation marks.
private func declaredDependencies() throws -> [String: Set<String>] {
    let text = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
    let targets = text.matches(of: /name: "(\w+)",(?:\s*\/\/[^\n]*)?\s*dependencies: \[([^\]]*)\]/)
    return Dictionary(
        targets.map { (String($0.1), Set($0.2.matches(of: /"(\w+)"/).map { String($0.1) })) },
        uniquingKeysWith: { $0.union($1) })
}

/// Everything that a target leads to, and itself.
private func reach(of target: String, in graph: [String: Set<String>]) -> Set<String> {
    var found: Set = [target]
    var next = [target]
    while let one = next.popLast() { next += graph[one, default: []].filter { found.insert($0).inserted } }
    return found
}

private func imports(in source: String) -> Set<String> {
    let kinds = "struct|class|enum|protocol|func|var|let|typealias"
    let levels = "public|package|internal|fileprivate|private"
    let pattern =
        "^[ \\t]*(?:@\\w+(?:\\(\\w+\\))?[ \\t]+)*(?:(?:\(levels))[ \\t]+)?import[ \\t]+(?:(?:\(kinds))[ \\t]+)?(\\w+)"
    guard let regex = try? Regex(pattern, as: (Substring, Substring).self).anchorsMatchLineEndings() else {
        Issue.record("the import pattern is not a pattern")
        return []
    }
    return Set(source.matches(of: regex).map { String($0.output.1) })
}
