// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the ordinary build knows nothing of it: what is fuzzed is compiled anew here, with
// coverage and the address sanitizer. The links under Sources are the main package's own files.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-sanitize=fuzzer,address"]),
]

let package = Package(
    name: "MeterFuzz",
    targets: [
        .target(name: "Domain", swiftSettings: strict),
        .target(name: "BluetoothCore", dependencies: ["Domain", "MeterCodec"], swiftSettings: strict),
        .target(
            name: "ESPHomeCore", dependencies: ["Domain", "Cryptography", "BluetoothCore"], swiftSettings: strict),
        .target(name: "CBuildInfo"),
        .target(name: "GatewayAPI", dependencies: ["Domain", "CBuildInfo"], swiftSettings: strict),
        .systemLibrary(name: "COpenSSL"),
        .target(name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "MeterCodec", dependencies: ["Domain", "Cryptography"], swiftSettings: strict),
        .target(
            name: "MeterSimulator", dependencies: ["Domain", "MeterCodec", "Cryptography"], swiftSettings: strict),
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "BluetoothCore", "CFuzzer", "Cryptography", "ESPHomeCore", "GatewayAPI", "MeterCodec",
                "Domain", "MeterSimulator",
            ],
            swiftSettings: strict,
            // libFuzzer itself comes without its main: Fuzz has one. See `run` for the library's path.
            linkerSettings: [.unsafeFlags(["-sanitize=address"]), .linkedLibrary("stdc++")]
        ),
    ]
)
