import Foundation

/// Checks how names become folders, and folders suites. `run` calls it whenever it has built the program.
enum SelfTest {
    /// A package in which Domain holds some cores and LeaseCore still is a target of its own.
    private static let targets = """
        Another instance of SwiftPM (PID: 3489) is already running, waiting until that process has finished execution...
        {"targets": [
            {"name": "LeaseCore", "type": "regular"},
            {"name": "Domain", "type": "regular"},
            {"name": "Gateway", "type": "regular", "dependencies": [{"byName": ["Domain", null]}]},
            {"name": "LeaseCoreTests", "type": "test", "dependencies": [{"byName": ["LeaseCore", null]}]},
            {"name": "SyncCoreTests", "type": "test", "dependencies": [{"byName": ["Domain", null]}]},
            {"name": "GatewayTests", "type": "test", "dependencies": [{"byName": ["Gateway", null]}]}
        ]}
        """
    private static let files = [
        "Sources/LeaseCore/LeaseRules.swift", "Sources/Domain/SyncCore/Middlewares/Halt.swift",
        "Sources/Domain/RelayCore/RelayObserver.swift", "Sources/Gateway/Leases/LeaseKeeper.swift",
        "Sources/Gateway/Relay/Leases/RelayLease.swift", "Sources/CLinux/include/linux.swift",
    ]
    /// The folder that each name stands for, its own tests and those above it.
    private static let expected = [
        "LeaseCore": "LeaseCore: LeaseCoreTests < ",
        "SyncCore": "Domain/SyncCore: SyncCoreTests < GatewayTests",
        "Domain/SyncCore": "Domain/SyncCore: SyncCoreTests < GatewayTests",
        "Middlewares": "Domain/SyncCore/Middlewares: SyncCoreTests < GatewayTests",
        "RelayCore": "Domain/RelayCore: none < GatewayTests, SyncCoreTests",
        "Domain": "Domain: none < GatewayTests, SyncCoreTests",
        "Gateway/Leases": "Gateway/Leases: GatewayTests < ",
        "Leases": "--target: Leases is one of Gateway/Leases, Gateway/Relay/Leases: say which",
        "Core": "--target: the package has no Core",
        "Gateway/Lease": "--target: the package has no Gateway/Lease",
        "CLinux": "--target: the package has no CLinux",
        "include": "--target: the package has no include",
    ]

    static func run() throws {
        let graph = try PackageGraph(manifest: targets)
        let folders = PackageGraph.folders(of: files)
        for (name, wanted) in expected {
            let found: String
            do throws(UsageError) {
                let folder = try graph.folder(named: name, among: folders)
                let above = graph.testsAbove(folder).joined(separator: ", ")
                found = "\(folder): \(graph.ownTests(of: folder) ?? "none") < \(above)"
            } catch {
                found = error.description
            }
            guard found == wanted else { throw UsageError("--self-test: \(name) is \(found), and not \(wanted)") }
        }
    }
}
