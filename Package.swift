// swift-tools-version: 6.2
import PackageDescription

// What targets use of other packages.

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting: Target.Dependency = .product(name: "HummingbirdTesting", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let tomlKit: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
    name: "MeterGateway",
    products: [
        .executable(name: "meterd", targets: ["MeterdMain"]),
        .executable(name: "meterctl", targets: ["MeterctlMain"]),
        .executable(name: "metercloud", targets: ["MetercloudMain"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        // Of two traits SwiftPM names now the one first, now the other, and then builds what has them anew; neither is used.
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // MARK: Layer 0 - values and machines: no I/O, no clock, no random numbers, no Foundation

        .target(name: "MeterModel"),
        .systemLibrary(name: "COpenSSL"),
        // Digests and ciphers of OpenSSL (Docs/Decisions/0037); layer 0's only library, as the TC66 encrypts its answers.
        .target(name: "Cryptography", dependencies: ["COpenSSL"]),
        .target(name: "MeterCodec", dependencies: ["MeterModel", "Cryptography"]),
        .target(name: "MeterSimulator", dependencies: ["MeterModel", "MeterCodec", "Cryptography"]),
        .target(name: "BluetoothCore", dependencies: ["MeterModel", "MeterCodec"]),
        .target(name: "ConnectionCore", dependencies: ["MeterModel"]),
        .target(name: "SettingsCore", dependencies: ["MeterModel"]),
        .target(name: "LeaseCore", dependencies: ["MeterModel"]),
        .target(name: "RelayCore", dependencies: ["MeterModel", "LeaseCore"]),
        .target(name: "RecordingCore", dependencies: ["MeterModel", "SettingsCore", "AlertCore"]),
        .target(name: "AlertCore", dependencies: ["MeterModel"]),
        .target(name: "ImportCore", dependencies: ["MeterModel"]),
        .target(name: "InfluxCore", dependencies: ["MeterModel"]),
        .target(name: "SyncCore", dependencies: ["MeterModel", "SettingsCore"]),
        .target(name: "MetricsCore"),
        .target(name: "HomeAutomationCore", dependencies: ["MeterModel"]),
        .target(name: "CBuildInfo"),
        .target(name: "GatewayAPI", dependencies: ["MeterModel", "CBuildInfo"]),
        .target(name: "CloudAPI", dependencies: ["MeterModel", "SettingsCore", "LeaseCore"]),

        // MARK: Layer ½ - the loop, its channels, the network and what is plugged in, as services and edges see them

        .target(name: "IOPorts", dependencies: ["MeterModel"]),

        // MARK: Layer 1 - ports, and the services that run the machines

        .target(
            name: "Gateway",
            dependencies: [
                "MeterModel", "IOPorts", "MeterCodec", "ConnectionCore", "SettingsCore", "LeaseCore", "SyncCore",
                "RecordingCore", "AlertCore", "ImportCore", "InfluxCore", "RelayCore", "GatewayAPI", logging,
            ]),
        .target(name: "Cloud", dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", logging]),

        // MARK: Layer 2 - edges

        .target(name: "CLinux"),
        .target(name: "LinuxIO", dependencies: ["CLinux", "MeterModel", "MetricsCore", "IOPorts"]),
        .systemLibrary(name: "CMosquitto"),
        .systemLibrary(name: "CUdev"),
        .systemLibrary(name: "CZlib"),
        // What two servers have in common: who may ask how often, and how slowly.
        .target(
            name: "ServerKit",
            dependencies: [
                "Cryptography", "LinuxIO", "MeterModel", hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1,
                nioTLS, serviceLifecycle,
            ]),
        // How a host reaches the cloud, and one copy of it another: by the pin of its certificate.
        .target(name: "PinnedHTTP", dependencies: ["CloudAPI", "Cryptography", asyncHTTPClient, nioCore, nioSSL]),
        // What two stores in SQLite files have in common: their lock, their errors.
        .target(name: "StoreKit", dependencies: ["LinuxIO", grdb]),
        .target(name: "USBTransport", dependencies: ["CUdev", "LinuxIO", "IOPorts", "MeterModel", "MeterCodec"]),
        .target(name: "CBluetooth", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(
            name: "BlueZTransport",
            dependencies: [
                "CBluetooth", "LinuxIO", "IOPorts", "Gateway", "GatewayAPI", "BluetoothCore", "MeterModel", logging,
            ]),
        .target(name: "SimulatedPort", dependencies: ["LinuxIO", "IOPorts", "MeterModel", "MeterSimulator"]),
        .target(
            name: "MeterStore",
            dependencies: [
                "MeterModel", "MeterCodec", "SettingsCore", "SyncCore", "RecordingCore", "AlertCore", "LeaseCore",
                "GatewayAPI", "Gateway", "StoreKit", grdb,
            ]),
        // How people and programs are told of alerts.
        .target(
            name: "Notifications",
            dependencies: [
                "MeterModel", "AlertCore", "InfluxCore", "Gateway", "GatewayAPI", "LinuxIO", asyncHTTPClient, nioCore,
                nioHTTP1, nioPosix,
            ]),
        // The web page is a part of the program (Docs/Decisions/0009-the-web-page.md).
        .target(name: "CWebPage"),
        .target(
            name: "GatewayServer",
            dependencies: [
                "CWebPage", "CZlib", "MeterModel", "MeterCodec", "SettingsCore", "LeaseCore", "SyncCore",
                "RecordingCore", "RelayCore", "AlertCore", "ImportCore", "IOPorts", "Gateway", "GatewayAPI",
                "MetricsCore", "ServerKit", "Cryptography", hummingbird, hummingbirdCore, logging, nioCore,
                serviceLifecycle,
            ],
            // CWebPage embeds it.
            exclude: ["Page"]),
        .target(
            name: "HomeAutomation",
            dependencies: [
                "CMosquitto", "MeterModel", "HomeAutomationCore", "CloudAPI", "IOPorts", "LinuxIO", logging,
            ]),
        .target(
            name: "CloudStore",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "LinuxIO", "StoreKit", grdb,
            ]),
        .target(
            name: "CloudEtcd",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", asyncHTTPClient, logging, nioCore,
                nioHTTP1, nioSSL,
            ]),
        .target(
            name: "CloudServer",
            dependencies: [
                "COpenSSL", "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "Cryptography",
                "LinuxIO", "MetricsCore", "ServerKit", hummingbird, hummingbirdCore, hummingbirdTLS, logging, nioCore,
                nioSSL, serviceLifecycle,
            ]),
        .target(
            name: "CloudClient",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "RelayCore", "SyncCore", "CloudAPI", "Gateway",
                "PinnedHTTP", asyncHTTPClient, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),

        // What several programs have in common: their output, their errors, and a cloud that is served.
        .target(
            name: "ProgramKit",
            dependencies: ["MeterModel", "LinuxIO", argumentParser, logging, serviceLifecycle]),
        .target(
            name: "CloudHosting",
            dependencies: [
                "MeterModel", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd", "CloudServer", "LinuxIO", "MetricsCore",
                "PinnedHTTP", "ServerKit", asyncHTTPClient, logging, nioCore, nioHTTP1, serviceLifecycle,
            ]),

        // MARK: Layer 3 - programs: composition only, and their executables

        .target(
            name: "meterd",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI", "LinuxIO",
                "USBTransport", "BlueZTransport", "BluetoothCore", "SimulatedPort", "MeterStore", "GatewayServer",
                "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "MetricsCore", "AlertCore", "InfluxCore",
                "Notifications", "HomeAutomation", "HomeAutomationCore", "Cloud", "CloudHosting", "CloudServer",
                "CloudClient", "Cryptography", "ProgramKit", "ServerKit",
                argumentParser, logging, serviceLifecycle, tomlKit, unixSignals,
            ]),
        .target(
            name: "meterctl",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "ImportCore", "GatewayAPI", "LinuxIO", "SimulatedPort",
                "ProgramKit", "USBTransport", "BluetoothCore", argumentParser, asyncHTTPClient, nioCore, nioHTTP1,
                unixSignals,
            ]),
        .target(
            name: "metercloud",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudHosting", "CloudStore",
                "CloudEtcd", "CloudServer", "GatewayAPI", "LinuxIO", "ProgramKit", "ServerKit", argumentParser,
                asyncHTTPClient, logging, nioCore, nioHTTP1, serviceLifecycle, unixSignals,
            ]),

        // meterd's executable is all three, by the name it is called by: the package has it once.
        .executableTarget(name: "MeterdMain", dependencies: ["meterd", "meterctl", "metercloud"]),
        .executableTarget(name: "MeterctlMain", dependencies: ["meterctl"]),
        .executableTarget(name: "MetercloudMain", dependencies: ["metercloud"]),

        // MARK: Test support

        // What the suites of pure cores need: apart, so that they build nothing above these.
        .target(name: "CoreTestKit", dependencies: ["MeterModel"], path: "Tests/Support/CoreTestKit"),
        .target(
            name: "SimulatedPeripheral", dependencies: ["BluetoothCore"], path: "Tests/Support/SimulatedPeripheral"),
        .target(
            name: "MeterTestKit",
            dependencies: [
                "LinuxIO", "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI",
                "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore", "AlertCore", "CloudAPI", "Cloud",
                "CoreTestKit", logging,
            ]),

        // MARK: Simulation (Tests/Simulation/README.md): whole hosts and the cloud's rules over virtual time

        .target(
            name: "SimulatedCloud",
            dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "RelayCore", "CloudAPI", "Cloud"],
            path: "Tests/Simulation/SimulatedCloud"),

        // The program's own parts over virtual time.
        .target(
            name: "SimulatedProgram",
            dependencies: [
                "MeterModel", "IOPorts", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "GatewayAPI",
                "MeterStore", "Cloud", "CloudStore", "CloudClient", "LeaseWitness", "MeterTestKit", "SimulatedCloud",
                grdb, logging,
            ],
            path: "Tests/Simulation/SimulatedProgram"),

        // What concurrent hosts see of a cloud, written down and judged: by the simulation, lease-histories and chaos.
        .target(
            name: "LeaseWitness",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "RelayCore", "CloudAPI", "Gateway", "Cloud",
                "CloudClient", "LinuxIO", "MeterTestKit", "SimulatedCloud",
            ],
            path: "Tests/LeaseHistories/LeaseWitness"),

        // MARK: Tests

        .testTarget(name: "MeterModelTests", dependencies: ["MeterModel", "CoreTestKit"]),
        .testTarget(
            name: "MeterCodecTests", dependencies: ["MeterModel", "MeterCodec", "MeterSimulator", "Cryptography"]),
        .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"]),
        // A family of meters from end to end: recognised, played, listed, described, driven.
        .testTarget(
            name: "MeterFamilyTests",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "BluetoothCore", "USBTransport", "IOPorts", "Gateway",
                "GatewayAPI", "HomeAutomationCore", "MeterStore", "MeterTestKit", "StoreTestKit", "meterctl",
            ]),
        .testTarget(
            name: "MeterSimulatorTests",
            dependencies: ["MeterModel", "MeterCodec", "MeterSimulator", "Cryptography"]),
        .testTarget(
            name: "BluetoothCoreTests",
            dependencies: ["MeterModel", "MeterCodec", "BluetoothCore", "CoreTestKit", "SimulatedPeripheral"]),
        .testTarget(name: "ConnectionCoreTests", dependencies: ["MeterModel", "ConnectionCore"]),
        .testTarget(name: "SettingsCoreTests", dependencies: ["MeterModel", "SettingsCore", "CoreTestKit"]),
        .testTarget(
            name: "RecordingCoreTests",
            dependencies: ["MeterModel", "SettingsCore", "AlertCore", "RecordingCore", "CoreTestKit"]),
        .testTarget(name: "AlertCoreTests", dependencies: ["MeterModel", "AlertCore"]),
        .testTarget(name: "InfluxCoreTests", dependencies: ["MeterModel", "InfluxCore", "CoreTestKit"]),
        .testTarget(name: "ImportCoreTests", dependencies: ["MeterModel", "ImportCore", "CoreTestKit"]),
        .testTarget(
            name: "NotificationsTests",
            dependencies: [
                "MeterModel", "AlertCore", "InfluxCore", "Notifications", "Gateway", "GatewayAPI", "LinuxIO",
                "MeterTestKit", nioCore, nioPosix,
            ]),
        .testTarget(name: "LeaseCoreTests", dependencies: ["MeterModel", "LeaseCore", "CoreTestKit"]),
        .testTarget(name: "RelayCoreTests", dependencies: ["MeterModel", "LeaseCore", "RelayCore", "CoreTestKit"]),
        .testTarget(name: "SyncCoreTests", dependencies: ["MeterModel", "SettingsCore", "SyncCore", "CoreTestKit"]),
        .testTarget(name: "MetricsCoreTests", dependencies: ["MetricsCore", "GatewayServer", "CloudServer"]),
        .testTarget(
            name: "HomeAutomationCoreTests",
            dependencies: ["MeterModel", "HomeAutomationCore", "CoreTestKit"]),
        .testTarget(
            name: "HomeAutomationTests",
            dependencies: [
                "MeterModel", "HomeAutomationCore", "HomeAutomation", "CloudAPI", "Gateway", "LinuxIO", "MeterTestKit",
                "CoreTestKit",
                logging,
            ]),
        .testTarget(name: "CloudAPITests", dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "CloudAPI"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "SimulatedCloud", "SimulatedProgram"]),
        .testTarget(
            name: "CloudTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "MeterTestKit", "CoreTestKit",
                "StoreTestKit", logging,
            ]),
        .testTarget(
            name: "CloudStoreTests",
            dependencies: [
                "CFaultyVFS", "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudStore",
                "MeterTestKit", "CoreTestKit", "StoreTestKit", grdb,
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "CloudEtcdTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd",
                "MeterTestKit", "CoreTestKit", logging, nioCore, nioPosix,
            ],
            exclude: ["Fixtures"]),
        .target(name: "YAMLDocument", path: "Tests/Support/YAMLDocument"),
        // Real stores in temporary folders, and their SQLite files as tests change them.
        .target(
            name: "StoreTestKit",
            dependencies: [
                "MeterModel", "SettingsCore", "Gateway", "MeterStore", "Cloud", "CloudStore", "MeterTestKit",
                "CoreTestKit", grdb,
            ],
            path: "Tests/Support/StoreTestKit"),
        .testTarget(
            name: "CloudServerTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudServer", "MeterTestKit",
                "CoreTestKit", "StoreTestKit",
                "YAMLDocument", "MetricsCore", "ServerKit", asyncHTTPClient, hummingbird, hummingbirdTesting, logging,
                nioCore, nioSSL, serviceLifecycle,
            ]),
        .testTarget(
            name: "CloudClientTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "RelayCore", "SyncCore", "CloudAPI", "CloudClient",
                "CloudServer",
                "Cloud", "Gateway", "MeterTestKit", "CoreTestKit", "StoreTestKit", "ServerKit", hummingbird, logging,
                nioCore, nioPosix, nioSSL, serviceLifecycle,
            ]),
        .testTarget(
            name: "MetercloudTests",
            dependencies: [
                "metercloud", "Cloud", "CloudAPI", "CloudEtcd", "CloudHosting", "CloudServer", "MeterModel",
                "MeterTestKit",
                "ProgramKit", "SettingsCore", argumentParser, logging, serviceLifecycle,
            ]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore", "AlertCore", "InfluxCore", "RelayCore",
                "MeterModel", "MeterCodec", "MeterSimulator", "ConnectionCore", "IOPorts", "Gateway", "GatewayAPI",
                "MeterStore", "MeterTestKit", "CoreTestKit", "StoreTestKit", logging,
            ]),
        .testTarget(
            name: "GatewayServerTests",
            dependencies: [
                "CZlib", "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI",
                "GatewayServer",
                "MeterStore", "MeterTestKit", "StoreTestKit", "YAMLDocument", "MetricsCore", "SettingsCore",
                "LeaseCore", "SyncCore", "RecordingCore", "AlertCore", "ServerKit", asyncHTTPClient, hummingbird,
                hummingbirdTesting, logging, nioCore, nioHTTP1, serviceLifecycle,
            ]),
        .testTarget(
            name: "ServerKitTests",
            dependencies: ["MeterModel", "MeterTestKit", "ServerKit", logging, nioCore, nioEmbedded, nioTLS]),
        .testTarget(
            name: "ProgramKitTests",
            dependencies: [
                "Cloud", "IOPorts", "LinuxIO", "MeterModel", "MeterTestKit", "MetricsCore", "ProgramKit", logging,
            ]),
        .testTarget(
            name: "MeterdTests",
            dependencies: [
                "meterd", "BluetoothCore", "MeterModel", "MeterCodec", "IOPorts", "Gateway", "GatewayAPI", "LeaseCore",
                "SyncCore", "CloudAPI", "CloudClient", "MeterTestKit", "HomeAutomation", "HomeAutomationCore",
                "ServerKit", "Notifications",
                logging,
            ]),
        .testTarget(
            name: "MeterctlTests",
            dependencies: [
                "MeterTestKit", "meterctl", "MeterModel", "MeterCodec", "GatewayAPI", "ProgramKit", "USBTransport",
            ]),
        .testTarget(
            name: "LinuxIOTests",
            dependencies: [
                "MeterTestKit", "CoreTestKit", "LinuxIO", "IOPorts", "Gateway", "MeterModel", "MetricsCore",
                "SyncCore",
            ]),
        .testTarget(
            name: "USBTransportTests",
            dependencies: [
                "MeterTestKit", "CoreTestKit", "USBTransport", "LinuxIO", "IOPorts", "Gateway", "MeterModel",
                "MeterCodec",
            ]),
        .testTarget(
            name: "BlueZTransportTests",
            dependencies: [
                "MeterTestKit", "SimulatedPeripheral", "BlueZTransport", "BluetoothCore", "LinuxIO", "IOPorts",
                "Gateway", "GatewayAPI",
                "MeterModel", "MeterCodec", "MeterSimulator", logging,
            ]),
        .testTarget(
            name: "SimulatedPortTests",
            dependencies: [
                "MeterTestKit", "SimulatedPort", "USBTransport", "LinuxIO", "IOPorts", "MeterCodec", "MeterModel",
                "MeterSimulator",
            ]),
        // A disk for SQLite that forgets at a power cut what was not synced.
        .target(
            name: "CFaultyVFS",
            path: "Tests/Support/CFaultyVFS",
            linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("pthread")]),
        .testTarget(
            name: "MeterStoreTests",
            dependencies: [
                "CFaultyVFS", "MeterStore", "MeterTestKit", "Gateway", "GatewayAPI", "MeterModel", "MeterCodec",
                "SettingsCore", "SyncCore", "LeaseCore", "RecordingCore", "AlertCore", "StoreTestKit", grdb,
            ],
            exclude: ["Fixtures"]),
        .testTarget(name: "ArchitectureTests"),
    ]
)

// Programs of long runs and of measurements. Only those who make them ask for them, so that nobody else builds them.
if Context.environment["WITH_TOOLS"] != nil {
    package.targets += [
        .executableTarget(
            name: "Simulation",
            dependencies: ["SimulatedCloud"],
            path: "Tests/Simulation/Simulation",
            // Nothing in it imports Glibc, which would ask for it.
            linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(
            name: "ProgramSimulation",
            dependencies: ["LinuxIO", "SimulatedProgram"],
            path: "Tests/Simulation/ProgramSimulation"),
        // make lease-histories: concurrent hosts against the real server.
        .executableTarget(
            name: "LeaseHistories",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "Cloud", "CloudStore",
                "CloudServer", "CloudClient", "LinuxIO", "MeterTestKit", "RelayCore", "ServerKit",
                "SimulatedCloud", "LeaseWitness", asyncHTTPClient, logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/LeaseHistories",
            exclude: ["README.md", "LeaseWitness"]),
        // make chaos: hosts, copies of the cloud over etcd, and whatever can go wrong between them.
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "MeterStore", "Cloud",
                "CloudEtcd", "CloudServer", "CloudClient", "LinuxIO", "MeterTestKit", "ServerKit", "SimulatedCloud",
                "LeaseWitness", logging, serviceLifecycle,
            ],
            path: "Tests/Chaos/Chaos"),
        // make bench, make load.
        .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBenchmarks", "MeterModel", "MeterCodec", "MeterSimulator", "IOPorts", "Gateway", "GatewayAPI",
                "LinuxIO", "USBTransport", "BluetoothCore", "BlueZTransport", "SimulatedPort", "MeterStore",
                "SettingsCore", "LeaseCore", "RelayCore", "SyncCore", "CloudAPI", "MeterTestKit", "SimulatedPeripheral",
                "Cloud", "CloudStore",
                "CloudServer", "CloudClient", "ServerKit", asyncHTTPClient, grdb, logging, nioCore, nioHTTP1, nioSSL,
            ],
            path: "Tests/Benchmarks",
            exclude: ["CBenchmarks"]),
    ]
}

// make quick TARGET=LeaseCoreTests: one suite and what it stands on. There is one test bundle, which has all suites that are here.
// Tests/Mutants/run names several, with commas between.
if let suites = Context.environment["ONLY_SUITE"] {
    var kept: Set<String> = []
    var open = suites.split(separator: ",").map(String.init)
    while let name = open.popLast() {
        guard kept.insert(name).inserted else { continue }
        open += package.targets.first { $0.name == name }?.dependencies.compactMap(\.name) ?? []
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll()
}

// Every Swift target of ours is strict: Swift 6 mode comes with the tools version, a warning is an error.
for target in package.targets where !target.isC {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}

extension Target {
    /// It is in C, or stands for a C library: its name begins with a C of its own, as in CLinux.
    fileprivate var isC: Bool { name.first == "C" && name.dropFirst().first?.isUppercase == true }
}

extension Target.Dependency {
    /// The name of a target of this package.
    fileprivate var name: String? {
        if case .byNameItem(let name, _) = self { name } else { nil }
    }
}
