// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is strict: Swift 6 mode comes with the tools version, a warning is an error.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "MeterGateway",
    products: [
        .executable(name: "meterd", targets: ["meterd"]),
        .executable(name: "meterctl", targets: ["meterctl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
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
                // The TC66 encrypts its answers; layer 0's only library (see TC66Cipher).
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(name: "MeterSimulator", dependencies: ["MeterModel", "MeterCodec"], swiftSettings: strict),
        .target(name: "ConnectionCore", dependencies: ["MeterModel"], swiftSettings: strict),
        .target(name: "CBuildInfo"),
        .target(name: "GatewayAPI", dependencies: ["MeterModel", "CBuildInfo"], swiftSettings: strict),

        // MARK: Layer 1 - ports, and the services that run the machines

        .target(
            name: "Gateway",
            dependencies: [
                "MeterModel", "MeterCodec", "ConnectionCore", "GatewayAPI",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        // MARK: Layer 2 - edges

        .target(name: "CLinux"),
        .target(name: "LinuxIO", dependencies: ["CLinux", "MeterModel", "Gateway"], swiftSettings: strict),
        .target(name: "USBTransport", dependencies: ["LinuxIO", "Gateway", "MeterModel"], swiftSettings: strict),
        .target(
            name: "SimulatedPort",
            dependencies: ["LinuxIO", "Gateway", "MeterModel", "MeterSimulator"],
            swiftSettings: strict
        ),
        .target(
            name: "MeterStore",
            dependencies: [
                "MeterModel", "Gateway",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "GatewayServer",
            dependencies: [
                "MeterModel", "Gateway", "GatewayAPI",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),

        // MARK: Layer 3 - programs: composition only

        .executableTarget(
            name: "meterd",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO", "USBTransport",
                "SimulatedPort", "MeterStore", "GatewayServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
                "MeterModel", "MeterCodec", "MeterSimulator", "GatewayAPI", "LinuxIO", "SimulatedPort",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),

        // MARK: Test support

        .target(
            name: "MeterTestKit",
            dependencies: [
                "LinuxIO",
                "MeterModel", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),

        // MARK: Benchmarks (make bench)

        .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBenchmarks", "MeterModel", "MeterCodec", "MeterSimulator", "Gateway", "GatewayAPI", "LinuxIO",
                "USBTransport", "SimulatedPort", "MeterStore",
                .product(name: "Logging", package: "swift-log"),
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
            name: "ConnectionCoreTests", dependencies: ["MeterModel", "ConnectionCore"], swiftSettings: strict
        ),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "MeterModel", "MeterCodec", "MeterSimulator", "ConnectionCore", "Gateway", "GatewayAPI", "MeterTestKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "GatewayServerTests",
            dependencies: [
                "MeterModel", "MeterSimulator", "Gateway", "GatewayAPI", "GatewayServer", "MeterTestKit",
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
            name: "MeterdTests",
            dependencies: [
                "meterd", "MeterModel", "Gateway", "GatewayAPI",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MeterctlTests", dependencies: ["meterctl", "MeterModel", "MeterCodec", "GatewayAPI"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LinuxIOTests", dependencies: ["MeterTestKit", "LinuxIO", "Gateway", "MeterModel"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "USBTransportTests",
            dependencies: ["MeterTestKit", "USBTransport", "LinuxIO", "Gateway", "MeterModel"],
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
        .testTarget(
            name: "MeterStoreTests",
            dependencies: [
                "MeterStore", "MeterTestKit", "Gateway", "MeterModel",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
    ]
)
