// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is strict: Swift 6 mode comes with the tools version, a warning is an error.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The files of the web page, in Sources/GatewayServer/Page.
let webPage = [
    "index.html", "app.css", "icon.svg", "app.js", "api.js", "chart.js", "dom.js", "host.js", "live.js", "login.js",
    "meter.js", "meters.js", "recordings.js", "words.js",
]

let package = Package(
    name: "MeterGateway",
    products: [
        .executable(name: "meterd", targets: ["meterd"]),
        .executable(name: "meterctl", targets: ["meterctl"]),
        .executable(name: "metercloud", targets: ["metercloud"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // MARK: Layer 0 - values and machines: no I/O, no clock, no dice, no Foundation

        .target(name: "MeterModel", swiftSettings: strict),
        .target(
            name: "MeterCodec",
            dependencies: [
                "MeterModel",
                // The TC66 encrypts its answers; layer 0's only library (see ECBCipher).
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(name: "MeterSimulator", dependencies: ["MeterModel", "MeterCodec"], swiftSettings: strict),
        .target(name: "BluetoothCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "ConnectionCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "SettingsCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "LeaseCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "RecordingCore", dependencies: ["MeterModel", "SettingsCore"], swiftSettings: strict),
        .target(name: "SyncCore", dependencies: ["MeterModel", "SettingsCore"], swiftSettings: strict),
        .target(name: "MetricsCore", swiftSettings: strict),
        .target(name: "HomeAutomationCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "CBuildInfo"),
        .target(name: "GatewayAPI", dependencies: ["MeterModel", "CBuildInfo"], swiftSettings: strict),
        .target(name: "CloudAPI", dependencies: ["MeterModel", "SettingsCore", "LeaseCore"], swiftSettings: strict),

        // MARK: Layer 1 - ports, and the services that run the machines

        .target(
            name: "Gateway",
            dependencies: [
                "MeterModel", "MeterCodec", "ConnectionCore", "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore",
                "GatewayAPI",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Cloud",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        // MARK: Layer 2 - edges

        .target(name: "CLinux"),
        .target(
            name: "LinuxIO", dependencies: ["CLinux", "MeterModel", "MetricsCore", "Gateway"], swiftSettings: strict
        ),
        .systemLibrary(name: "CMosquitto"),
        .systemLibrary(name: "CUdev"),
        .systemLibrary(name: "CZlib"),
        // What two servers have in common: who may ask how often, and how slowly.
        .target(
            name: "ServerKit",
            dependencies: [
                "MeterModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "USBTransport", dependencies: ["CUdev", "LinuxIO", "Gateway", "MeterModel"], swiftSettings: strict
        ),
        .target(name: "CBluetooth", linkerSettings: [.linkedLibrary("bluetooth")]),
        .target(
            name: "BlueZTransport",
            dependencies: [
                "CBluetooth", "LinuxIO", "Gateway", "GatewayAPI", "BluetoothCore", "MeterModel",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "SimulatedPort",
            dependencies: ["LinuxIO", "Gateway", "MeterModel", "MeterSimulator"],
            swiftSettings: strict
        ),
        .target(
            name: "MeterStore",
            dependencies: [
                "MeterModel", "SettingsCore", "SyncCore", "RecordingCore", "LeaseCore", "Gateway", "LinuxIO",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "GatewayServer",
            dependencies: [
                "CZlib", "MeterModel", "MeterCodec", "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore",
                "Gateway", "GatewayAPI", "MetricsCore", "ServerKit",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            // The web page is a part of the program (Docs/Decisions/0009).
            resources: webPage.map { .embedInCode("Page/\($0)") },
            swiftSettings: strict
        ),

        .target(
            name: "HomeAutomation",
            dependencies: [
                "CMosquitto", "MeterModel", "HomeAutomationCore", "CloudAPI", "Gateway", "LinuxIO",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        .target(
            name: "CloudStore",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "LinuxIO",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CloudEtcd",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CloudServer",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "LinuxIO", "MetricsCore", "ServerKit",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CloudClient",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict
        ),

        // What several programs have in common: their output, their errors, and a cloud that is served.
        .target(
            name: "ProgramKit",
            dependencies: [
                "MeterModel", "LinuxIO",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CloudHosting",
            dependencies: [
                "MeterModel", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd", "CloudServer", "LinuxIO",
                "MetricsCore", "ServerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),

        // MARK: Layer 3 - programs: composition only

        .executableTarget(
            name: "meterd",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO", "USBTransport",
                "BlueZTransport", "BluetoothCore", "SimulatedPort", "MeterStore", "GatewayServer", "SettingsCore",
                "LeaseCore", "SyncCore", "CloudAPI", "MetricsCore", "HomeAutomation", "HomeAutomationCore",
                "Cloud", "CloudHosting", "CloudServer", "CloudClient", "ProgramKit", "ServerKit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "TOMLKit", package: "TOMLKit"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "meterctl",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "GatewayAPI", "LinuxIO", "SimulatedPort", "ProgramKit",
                "USBTransport", "BluetoothCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),

        .executableTarget(
            name: "metercloud",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudHosting", "CloudStore",
                "CloudEtcd", "CloudServer", "GatewayAPI", "LinuxIO", "ProgramKit", "ServerKit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),

        // MARK: Test support

        .target(
            name: "MeterTestKit",
            dependencies: [
                "LinuxIO",
                "MeterModel", "MeterCodec", "MeterSimulator", "BluetoothCore", "Gateway", "GatewayAPI", "SettingsCore",
                "LeaseCore", "SyncCore", "RecordingCore", "CloudAPI", "Cloud",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        // MARK: Simulation (Tests/Simulation/README.md): whole hosts and the cloud's rules over virtual time

        .target(
            name: "SimulatedCloud",
            dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Cloud"],
            path: "Tests/Simulation/SimulatedCloud",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Simulation",
            dependencies: ["SimulatedCloud"],
            path: "Tests/Simulation/Simulation",
            swiftSettings: strict,
            // Nothing in it imports Glibc, which would ask for it.
            linkerSettings: [.linkedLibrary("m")]
        ),

        // MARK: Lease histories (make lease-histories): what concurrent hosts see of the real server, judged

        .target(
            name: "LeaseWitness",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "Cloud", "CloudClient",
                "LinuxIO",
                "SimulatedCloud",
            ],
            path: "Tests/LeaseHistories/LeaseWitness",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "LeaseHistories",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "Cloud", "CloudStore",
                "CloudServer", "CloudClient", "LinuxIO", "MeterTestKit", "ServerKit", "SimulatedCloud", "LeaseWitness",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/LeaseHistories",
            exclude: ["README.md", "LeaseWitness"],
            swiftSettings: strict
        ),

        // MARK: Chaos (make chaos): hosts, copies of the cloud over etcd, and whatever can go wrong between them

        .executableTarget(
            name: "Chaos",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "Gateway", "MeterStore", "Cloud",
                "CloudEtcd", "CloudServer", "CloudClient", "LinuxIO", "MeterTestKit", "ServerKit", "SimulatedCloud",
                "LeaseWitness",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Chaos/Chaos",
            swiftSettings: strict
        ),

        // MARK: Benchmarks (make bench)

        .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBenchmarks", "MeterModel", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO",
                "USBTransport", "BluetoothCore", "BlueZTransport", "SimulatedPort", "MeterStore", "SettingsCore",
                "LeaseCore", "SyncCore", "CloudAPI", "MeterTestKit",
                "Cloud", "CloudStore", "CloudServer", "CloudClient", "ServerKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/Benchmarks",
            exclude: ["CBenchmarks"],
            swiftSettings: strict
        ),

        // MARK: Tests

        .testTarget(name: "MeterModelTests", dependencies: ["MeterModel"], swiftSettings: strict),
        .testTarget(
            name: "MeterCodecTests", dependencies: ["MeterModel", "MeterCodec", "MeterSimulator"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MeterSimulatorTests", dependencies: ["MeterModel", "MeterCodec", "MeterSimulator"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BluetoothCoreTests", dependencies: ["MeterModel", "BluetoothCore", "MeterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConnectionCoreTests", dependencies: ["MeterModel", "ConnectionCore"], swiftSettings: strict
        ),
        .testTarget(
            name: "SettingsCoreTests", dependencies: ["MeterModel", "SettingsCore", "MeterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "RecordingCoreTests",
            dependencies: ["MeterModel", "SettingsCore", "RecordingCore", "MeterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(name: "LeaseCoreTests", dependencies: ["MeterModel", "LeaseCore"], swiftSettings: strict),
        .testTarget(
            name: "SyncCoreTests", dependencies: ["MeterModel", "SettingsCore", "SyncCore", "MeterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MetricsCoreTests", dependencies: ["MetricsCore", "GatewayServer", "CloudServer"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HomeAutomationCoreTests", dependencies: ["MeterModel", "HomeAutomationCore", "MeterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "HomeAutomationTests",
            dependencies: [
                "MeterModel", "HomeAutomationCore", "HomeAutomation", "CloudAPI", "Gateway", "LinuxIO", "MeterTestKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudAPITests", dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "CloudAPI"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulationTests", dependencies: ["MeterModel", "SettingsCore", "LeaseCore", "SimulatedCloud"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "MeterTestKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudStoreTests",
            dependencies: [
                "CFaultyVFS", "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudStore",
                "MeterTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudEtcdTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudStore", "CloudEtcd",
                "MeterTestKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict
        ),
        .target(name: "YAMLDocument", path: "Tests/Support/YAMLDocument", swiftSettings: strict),
        .testTarget(
            name: "CloudServerTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "CloudAPI", "Cloud", "CloudServer", "MeterTestKit",
                "YAMLDocument", "MetricsCore", "ServerKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudClientTests",
            dependencies: [
                "MeterModel", "SettingsCore", "LeaseCore", "SyncCore", "CloudAPI", "CloudClient", "CloudServer",
                "Cloud", "Gateway", "MeterTestKit", "ServerKit",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MetercloudTests",
            dependencies: [
                "metercloud", "Cloud", "CloudAPI", "CloudEtcd", "CloudServer", "MeterModel", "MeterTestKit",
                "ProgramKit",
                "SettingsCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "SettingsCore", "LeaseCore", "SyncCore", "RecordingCore",
                "MeterModel", "MeterCodec", "MeterSimulator", "ConnectionCore", "Gateway", "GatewayAPI", "MeterTestKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "GatewayServerTests",
            dependencies: [
                "MeterModel", "MeterSimulator", "Gateway", "GatewayAPI", "GatewayServer", "MeterTestKit",
                "YAMLDocument", "MetricsCore", "SettingsCore",
                "LeaseCore", "SyncCore", "RecordingCore", "ServerKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServerKitTests",
            dependencies: [
                "MeterModel", "MeterTestKit", "ServerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProgramKitTests",
            dependencies: [
                "Cloud", "Gateway", "LinuxIO", "MeterModel", "MeterTestKit", "ProgramKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MeterdTests",
            dependencies: [
                "meterd", "BluetoothCore", "MeterModel", "Gateway", "GatewayAPI", "LeaseCore", "SyncCore", "CloudAPI",
                "CloudClient", "MeterTestKit",
                "HomeAutomation", "HomeAutomationCore",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MeterctlTests",
            dependencies: [
                "MeterTestKit", "meterctl", "MeterModel", "MeterCodec", "GatewayAPI", "ProgramKit", "USBTransport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinuxIOTests",
            dependencies: ["MeterTestKit", "LinuxIO", "Gateway", "MeterModel", "MetricsCore", "SyncCore"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "USBTransportTests",
            dependencies: ["MeterTestKit", "USBTransport", "LinuxIO", "Gateway", "MeterModel"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BlueZTransportTests",
            dependencies: [
                "MeterTestKit", "BlueZTransport", "BluetoothCore", "LinuxIO", "Gateway", "GatewayAPI", "MeterModel",
                "MeterCodec", "MeterSimulator",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulatedPortTests",
            dependencies: [
                "MeterTestKit",
                "SimulatedPort", "USBTransport", "LinuxIO", "Gateway", "MeterCodec", "MeterModel", "MeterSimulator",
            ],
            swiftSettings: strict
        ),
        // A disk for SQLite that forgets at a power cut what was not synced.
        .target(
            name: "CFaultyVFS", path: "Tests/Support/CFaultyVFS",
            linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("pthread")]
        ),
        .testTarget(
            name: "MeterStoreTests",
            dependencies: [
                "CFaultyVFS", "MeterStore", "MeterTestKit", "Gateway", "MeterModel", "SettingsCore", "SyncCore",
                "LeaseCore", "RecordingCore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict
        ),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ]
)
