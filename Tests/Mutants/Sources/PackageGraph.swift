import Foundation

/// The targets of the package and what they stand on, as SwiftPM reads its manifest.
struct PackageGraph {
    struct Target {
        let name: String
        let isTest: Bool
        /// Of this package, by name.
        let dependencies: [String]
    }

    private let targets: [String: Target]

    /// - Parameter manifest: what `swift package dump-package` prints, perhaps after the process that it waits for.
    init(manifest: String) throws {
        let json = Data(manifest.drop { $0 != "{" }.utf8)
        guard let root = try JSONSerialization.jsonObject(with: json) as? [String: Any],
            let listed = root["targets"] as? [[String: Any]]
        else { throw UsageError("swift package dump-package printed something else than a package") }
        let names = Set(listed.compactMap { $0["name"] as? String })
        var targets: [String: Target] = [:]
        for item in listed {
            guard let name = item["name"] as? String else { continue }
            let dependencies = (item["dependencies"] as? [[String: Any]] ?? []).compactMap { dependency in
                ["byName", "target"].lazy.compactMap { (dependency[$0] as? [Any])?.first as? String }.first
            }
            targets[name] = Target(
                name: name, isTest: item["type"] as? String == "test", dependencies: dependencies.filter(names.contains)
            )
        }
        self.targets = targets
    }

    /// Target of a folder: `Gateway/Leases` belongs to Gateway.
    static func target(_ folder: String) -> String { String(folder.prefix { $0 != "/" }) }

    /// Folders of sources, without `Sources/`: `Gateway` and `Gateway/Leases` for `Sources/Gateway/Leases/LeaseKeeper.swift`.
    static func folders(of files: [String]) -> Set<String> {
        Set(
            files.flatMap { file in
                let parts = file.split(separator: "/").dropFirst().dropLast()
                return parts.indices.map { parts[...$0].joined(separator: "/") }
            })
    }

    /// Finds the folder that a name stands for: `LeaseCore` is a target, or the folder LeaseCore of one target.
    func folder(named name: String, among folders: Set<String>) throws(UsageError) -> String {
        let known = folders.filter { targets[Self.target($0)] != nil }
        let found = known.contains(name) ? [name] : known.filter { $0.hasSuffix("/\(name)") }.sorted()
        guard let only = found.first else { throw UsageError("--target: the package has no \(name)") }
        guard found.count == 1 else {
            throw UsageError("--target: \(name) is one of \(found.joined(separator: ", ")): say which")
        }
        return only
    }

    /// It and everything that it stands on.
    private func closure(of names: some Sequence<String>) -> Set<String> {
        var closed: Set<String> = []
        var open = Array(names)
        while let name = open.popLast() {
            guard closed.insert(name).inserted, let target = targets[name] else { continue }
            open += target.dependencies
        }
        return closed
    }

    /// Tests named for the folder, or else for the nearest folder around it that has any: `Domain/LeaseCore` has
    /// LeaseCoreTests, `Gateway/Leases` has GatewayTests.
    func ownTests(of folder: String) -> String? {
        folder.split(separator: "/").reversed().map { "\($0)Tests" }.first { targets[$0]?.isTest == true }
    }

    /// The other tests whose program has the folder's target in it.
    func testsAbove(_ folder: String) -> [String] {
        let (own, target) = (ownTests(of: folder), Self.target(folder))
        return targets.values.filter { $0.isTest && $0.name != own && closure(of: [$0.name]).contains(target) }
            .map(\.name).sorted()
    }
}
