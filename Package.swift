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

        .target(name: "Domain"),
        .systemLibrary(name: "COpenSSL"),
        // Digests and ciphers of OpenSSL (Docs/Decisions/0037); layer 0's only library, as the TC66 encrypts its answers.
        .target(name: "Cryptography", dependencies: ["COpenSSL"]),
        .target(name: "MeterCodec", dependencies: ["Domain", "Cryptography"]),
        .target(name: "MeterSimulator", dependencies: ["Domain", "MeterCodec", "Cryptography"]),
        .target(name: "BluetoothCore", dependencies: ["Domain", "MeterCodec"]),
        // ESPHome's native API, as a host of a Bluetooth proxy speaks it.
        .target(name: "ESPHomeCore", dependencies: ["Domain", "Cryptography", "BluetoothCore"]),
        .target(name: "CBuildInfo"),
        .target(name: "GatewayAPI", dependencies: ["Domain", "CBuildInfo"]),
        .target(name: "CloudAPI", dependencies: ["Domain"]),

        // MARK: Layer 1 - ports, and the services that run the machines

        .target(
            name: "Gateway",
            dependencies: ["Domain", "MeterCodec", "GatewayAPI", logging]),
        .target(name: "Cloud", dependencies: ["Domain", "CloudAPI", logging]),

        // MARK: Layer 2 - edges

        .target(name: "CLinux"),
        .target(name: "LinuxIO", dependencies: ["CLinux", "Domain"]),
        .systemLibrary(name: "CMosquitto"),
        .systemLibrary(name: "CUdev"),
        .systemLibrary(name: "CZlib"),
        // What two servers have in common: who may ask how often, and how slowly; certificates and TLS.
        .target(
            name: "ServerKit",
            dependencies: [
                "COpenSSL", "Cryptography", "LinuxIO", "Domain", hummingbird, hummingbirdCore, logging, nioCore,
                nioHTTP1, nioSSL, nioTLS, serviceLifecycle,
            ]),
        // How a host reaches the cloud, and one copy of it another: by the pin of its certificate.
        .target(name: "PinnedHTTP", dependencies: ["CloudAPI", "Cryptography", asyncHTTPClient, nioCore, nioSSL]),
        // What two stores in SQLite files have in common: their lock, their errors.
        .target(name: "StoreKit", dependencies: ["LinuxIO", grdb]),
        .target(name: "USBTransport", dependencies: ["CUdev", "LinuxIO", "Domain", "MeterCodec"]),
        // Daemons on the system bus: bluetoothd, and Avahi, which finds and announces services in the network.
        .target(name: "SystemBus", dependencies: ["LinuxIO", "Domain"]),
        .target(name: "CBluetooth", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(
            name: "BlueZTransport",
            dependencies: [
                "CBluetooth", "SystemBus", "LinuxIO", "Domain", "Gateway", "GatewayAPI", "BluetoothCore", logging,
            ]),
        // Bluetooth proxies, which stand behind the ports of this machine's own radios.
        .target(
            name: "ProxyTransport",
            dependencies: [
                "LinuxIO", "Domain", "Gateway", "GatewayAPI", "BluetoothCore", "ESPHomeCore", "BlueZTransport", logging,
            ]),
        .target(
            name: "SimulatedPort",
            dependencies: ["LinuxIO", "Domain", "MeterCodec", "MeterSimulator", "BluetoothCore", "ESPHomeCore"]),
        .target(
            name: "MeterStore",
            dependencies: ["Domain", "MeterCodec", "GatewayAPI", "Gateway", "StoreKit", grdb]),
        // How people and programs are told of alerts.
        .target(
            name: "Notifications",
            dependencies: ["Domain", "Gateway", "GatewayAPI", "LinuxIO", asyncHTTPClient, nioCore, nioHTTP1, nioPosix]),
        // The web page is a part of the program (Docs/Decisions/0009-the-web-page.md).
        .target(name: "CWebPage"),
        .target(
            name: "GatewayServer",
            dependencies: [
                "CWebPage", "CZlib", "Domain", "MeterCodec", "Gateway", "GatewayAPI", "ServerKit", "Cryptography",
                hummingbird, hummingbirdCore, logging, nioCore, serviceLifecycle,
            ],
            // CWebPage embeds it.
            exclude: ["Page"]),
        .target(
            name: "HomeAutomation",
            dependencies: ["CMosquitto", "Domain", "MeterCodec", "CloudAPI", "LinuxIO", logging]),
        .target(
            name: "CloudStore",
            dependencies: ["Domain", "CloudAPI", "Cloud", "LinuxIO", "StoreKit", grdb]),
        .target(
            name: "CloudEtcd",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "Cryptography", asyncHTTPClient, logging, nioCore, nioHTTP1, nioSSL,
            ]),
        .target(
            name: "CloudServer",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "Cryptography", "LinuxIO", "ServerKit", hummingbird, hummingbirdCore,
                hummingbirdTLS, logging, nioCore, nioSSL, serviceLifecycle,
            ]),
        .target(
            name: "CloudClient",
            dependencies: [
                "Domain", "CloudAPI", "Gateway", "PinnedHTTP", asyncHTTPClient, logging, nioCore, nioHTTP1, nioPosix,
                nioSSL,
            ]),

        // What several programs have in common: their output, their errors, and a cloud that is served.
        .target(
            name: "ProgramKit",
            dependencies: ["Domain", "LinuxIO", argumentParser, logging, serviceLifecycle]),
        .target(
            name: "CloudHosting",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd", "CloudServer", "LinuxIO", "PinnedHTTP",
                "ServerKit", asyncHTTPClient, logging, nioCore, nioHTTP1, serviceLifecycle,
            ]),

        // MARK: Layer 3 - programs: composition only, and their executables

        .target(
            name: "meterd",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO", "USBTransport",
                "BlueZTransport", "ProxyTransport", "SystemBus", "BluetoothCore", "ESPHomeCore", "SimulatedPort",
                "MeterStore", "GatewayServer", "CloudAPI",
                "Notifications", "HomeAutomation", "Cloud", "CloudHosting", "CloudServer", "CloudClient",
                "Cryptography", "ProgramKit", "ServerKit", argumentParser, logging, serviceLifecycle, tomlKit,
                unixSignals,
            ]),
        .target(
            name: "meterctl",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "GatewayAPI", "LinuxIO", "SimulatedPort", "ProgramKit",
                "USBTransport", "BluetoothCore", "ESPHomeCore", "HomeAutomation", "CloudAPI", "SystemBus",
                argumentParser,
                asyncHTTPClient, nioCore, nioHTTP1, unixSignals,
            ]),
        .target(
            name: "metercloud",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "CloudHosting", "CloudStore", "CloudEtcd", "CloudServer", "GatewayAPI",
                "LinuxIO", "ProgramKit", "ServerKit", "SystemBus", argumentParser, asyncHTTPClient, logging, nioCore,
                nioHTTP1, serviceLifecycle, unixSignals,
            ]),

        // meterd's executable is all three, by the name it is called by: the package has it once.
        .executableTarget(name: "MeterdMain", dependencies: ["meterd", "meterctl", "metercloud"]),
        .executableTarget(name: "MeterctlMain", dependencies: ["meterctl"]),
        .executableTarget(name: "MetercloudMain", dependencies: ["metercloud"]),

        // MARK: Test support

        // What the suites of pure cores need: apart, so that they build nothing above these.
        .target(name: "CoreTestKit", dependencies: ["Domain"], path: "Tests/Support/CoreTestKit"),
        .target(
            name: "SimulatedPeripheral", dependencies: ["BluetoothCore"], path: "Tests/Support/SimulatedPeripheral"),
        .target(
            name: "MeterTestKit",
            dependencies: [
                "LinuxIO", "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "CloudAPI", "Cloud",
                "CoreTestKit", logging,
            ]),

        // MARK: Simulation (Tests/Simulation/README.md): whole hosts and the cloud's rules over virtual time

        .target(
            name: "SimulatedCloud",
            dependencies: ["Domain", "CloudAPI", "Cloud"],
            path: "Tests/Simulation/SimulatedCloud"),

        // The program's own parts over virtual time.
        .target(
            name: "SimulatedProgram",
            dependencies: [
                "Domain", "CloudAPI", "Gateway", "GatewayAPI", "MeterStore", "Cloud", "CloudStore", "CloudClient",
                "LeaseWitness", "MeterTestKit", "SimulatedCloud", grdb, logging,
            ],
            path: "Tests/Simulation/SimulatedProgram"),

        // What concurrent hosts see of a cloud, written down and judged: by the simulation, lease-histories and chaos.
        .target(
            name: "LeaseWitness",
            dependencies: [
                "Domain", "CloudAPI", "Gateway", "Cloud", "CloudClient", "LinuxIO", "MeterTestKit", "SimulatedCloud",
                asyncHTTPClient, nioCore, nioHTTP1,
            ],
            path: "Tests/LeaseHistories/LeaseWitness"),

        // MARK: Tests

        .testTarget(name: "MeterModelTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(
            name: "MeterCodecTests", dependencies: ["Domain", "MeterCodec", "MeterSimulator", "Cryptography"]),
        .testTarget(name: "CryptographyTests", dependencies: ["COpenSSL", "Cryptography"]),
        // A family of meters from end to end: recognised, played, listed, described, driven.
        .testTarget(
            name: "MeterFamilyTests",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "BluetoothCore", "USBTransport", "Gateway", "GatewayAPI",
                "MeterStore", "MeterTestKit", "StoreTestKit", "meterctl",
            ]),
        .testTarget(
            name: "MeterSimulatorTests",
            dependencies: ["Domain", "MeterCodec", "MeterSimulator", "Cryptography"]),
        .testTarget(
            name: "BluetoothCoreTests",
            dependencies: ["Domain", "MeterCodec", "BluetoothCore", "CoreTestKit", "SimulatedPeripheral"]),
        .testTarget(
            name: "ESPHomeCoreTests",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "BluetoothCore", "ESPHomeCore", "SimulatedPort",
                "CoreTestKit",
            ]),
        .testTarget(name: "ConnectionCoreTests", dependencies: ["Domain"]),
        .testTarget(name: "SettingsCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(
            name: "RecordingCoreTests",
            dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "SampleCoreTests", dependencies: ["Domain", "MeterCodec", "MeterSimulator", "CoreTestKit"]),
        .testTarget(name: "AlertCoreTests", dependencies: ["Domain"]),
        .testTarget(name: "BackupCoreTests", dependencies: ["Domain"]),
        .testTarget(name: "InfluxCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "ImportCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(
            name: "NotificationsTests",
            dependencies: [
                "Domain", "Notifications", "Gateway", "GatewayAPI", "MeterTestKit", nioCore, nioPosix,
            ]),
        .testTarget(name: "LimitCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "FormulaCoreTests", dependencies: ["Domain"]),
        .testTarget(name: "LeaseCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "RelayCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "SyncCoreTests", dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(name: "MetricsCoreTests", dependencies: ["Domain", "GatewayServer", "CloudServer"]),
        .testTarget(
            name: "HomeAutomationCoreTests",
            dependencies: ["Domain", "CoreTestKit"]),
        .testTarget(
            name: "HomeAutomationTests",
            dependencies: [
                "Domain", "MeterCodec", "HomeAutomation", "Gateway", "LinuxIO", "MeterTestKit", "CoreTestKit", logging,
            ]),
        .testTarget(name: "CloudAPITests", dependencies: ["Domain", "CloudAPI"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["Domain", "SimulatedCloud", "SimulatedProgram"]),
        .testTarget(
            name: "CloudTests",
            dependencies: ["Domain", "CloudAPI", "Cloud", "MeterTestKit", "CoreTestKit", "StoreTestKit", logging]),
        .testTarget(
            name: "CloudStoreTests",
            dependencies: [
                "CFaultyVFS", "Domain", "CloudAPI", "Cloud", "CloudStore", "MeterTestKit", "CoreTestKit",
                "StoreTestKit", grdb,
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "CloudEtcdTests",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd", "MeterTestKit", "CoreTestKit", logging,
                nioCore, nioPosix,
            ],
            exclude: ["Fixtures"]),
        .target(name: "YAMLDocument", path: "Tests/Support/YAMLDocument"),
        // Real stores in temporary folders, and their SQLite files as tests change them.
        .target(
            name: "StoreTestKit",
            dependencies: [
                "Domain", "Gateway", "MeterStore", "Cloud", "CloudStore", "MeterTestKit", "CoreTestKit", grdb,
            ],
            path: "Tests/Support/StoreTestKit"),
        .testTarget(
            name: "CloudServerTests",
            dependencies: [
                "Domain", "CloudAPI", "Cloud", "CloudServer", "MeterTestKit", "CoreTestKit", "StoreTestKit",
                "YAMLDocument", "ServerKit", asyncHTTPClient, hummingbird, hummingbirdTesting, logging, nioCore, nioSSL,
                serviceLifecycle,
            ]),
        .testTarget(
            name: "CloudClientTests",
            dependencies: [
                "Domain", "CloudAPI", "CloudClient", "CloudServer", "Cloud", "Gateway", "MeterTestKit", "CoreTestKit",
                "StoreTestKit", "ServerKit", hummingbird, logging, nioCore, nioPosix, nioSSL, serviceLifecycle,
            ]),
        .testTarget(
            name: "MetercloudTests",
            dependencies: [
                "metercloud", "CloudAPI", "CloudEtcd", "CloudHosting", "CloudServer", "Domain", "MeterTestKit",
                "ProgramKit", argumentParser, logging, serviceLifecycle,
            ]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "MeterStore", "MeterTestKit",
                "CoreTestKit", "StoreTestKit", logging,
            ]),
        .testTarget(
            name: "GatewayServerTests",
            dependencies: [
                "CZlib", "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "GatewayServer",
                "MeterStore",
                "MeterTestKit", "StoreTestKit", "YAMLDocument", "ServerKit", asyncHTTPClient, hummingbird,
                hummingbirdTesting, logging, nioCore, nioEmbedded, nioHTTP1, nioSSL, serviceLifecycle,
            ]),
        .testTarget(
            name: "ServerKitTests",
            dependencies: [
                "Domain", "Gateway", "MeterStore", "MeterTestKit", "ServerKit", "StoreTestKit", logging, nioCore,
                nioEmbedded, nioTLS,
            ]),
        .testTarget(
            name: "ProgramKitTests",
            dependencies: ["Cloud", "Domain", "LinuxIO", "MeterTestKit", "ProgramKit", logging]),
        .testTarget(
            name: "MeterdTests",
            dependencies: [
                "meterd", "BluetoothCore", "Domain", "MeterCodec", "Gateway", "GatewayAPI", "CloudAPI", "CloudClient",
                "MeterTestKit", "HomeAutomation", "ServerKit", "Notifications", "ESPHomeCore", "ProxyTransport",
                logging,
            ]),
        .testTarget(
            name: "MeterctlTests",
            dependencies: [
                "MeterTestKit", "meterctl", "Domain", "MeterCodec", "GatewayAPI", "CloudAPI", "LinuxIO", "ProgramKit",
                "USBTransport",
            ]),
        .testTarget(
            name: "LinuxIOTests",
            dependencies: ["MeterTestKit", "CoreTestKit", "LinuxIO", "Domain", "Gateway"]),
        .testTarget(
            name: "USBTransportTests",
            dependencies: [
                "MeterTestKit", "CoreTestKit", "USBTransport", "LinuxIO", "Domain", "Gateway", "MeterCodec",
            ]),
        .testTarget(
            name: "ProxyTransportTests",
            dependencies: [
                "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO", "ESPHomeCore",
                "ProxyTransport", "SimulatedPort", "MeterTestKit", "CoreTestKit", logging,
            ]),
        .testTarget(
            name: "BlueZTransportTests",
            dependencies: [
                "MeterTestKit", "SimulatedPeripheral", "BlueZTransport", "SystemBus", "BluetoothCore", "LinuxIO",
                "Domain", "Gateway", "GatewayAPI", "MeterCodec", "MeterSimulator", logging,
            ]),
        .testTarget(
            name: "SimulatedPortTests",
            dependencies: [
                "MeterTestKit", "SimulatedPort", "USBTransport", "LinuxIO", "Domain", "MeterCodec", "MeterSimulator",
            ]),
        // A disk for SQLite that forgets at a power cut what was not synced.
        .target(
            name: "CFaultyVFS",
            path: "Tests/Support/CFaultyVFS",
            linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("pthread")]),
        .testTarget(
            name: "MeterStoreTests",
            dependencies: [
                "CFaultyVFS", "MeterStore", "MeterTestKit", "Gateway", "GatewayAPI", "Domain", "MeterCodec",
                "StoreTestKit", grdb,
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
                "Domain", "CloudAPI", "Gateway", "Cloud", "CloudStore", "CloudServer", "CloudClient", "LinuxIO",
                "MeterTestKit", "ServerKit", "SimulatedCloud", "LeaseWitness", logging, serviceLifecycle,
            ],
            path: "Tests/LeaseHistories",
            exclude: ["README.md", "LeaseWitness"]),
        // make chaos: hosts, copies of the cloud over etcd, and whatever can go wrong between them.
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "Domain", "CloudAPI", "Gateway", "MeterStore", "Cloud", "CloudEtcd", "CloudServer", "CloudClient",
                "LinuxIO", "ServerKit", "SimulatedCloud", "LeaseWitness", logging, serviceLifecycle,
            ],
            path: "Tests/Chaos/Chaos"),
        // make bench, make load.
        .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBenchmarks", "Domain", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO",
                "USBTransport", "BluetoothCore", "BlueZTransport", "SimulatedPort", "MeterStore", "CloudAPI",
                "MeterTestKit", "SimulatedPeripheral", "Cloud", "CloudStore", "CloudServer", "CloudClient", "ServerKit",
                asyncHTTPClient, grdb, logging, nioCore, nioHTTP1, nioSSL,
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
