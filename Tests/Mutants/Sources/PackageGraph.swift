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

    /// - Parameter manifest: what `swift package dump-package` prints.
    init(manifest: Data) throws {
        guard let root = try JSONSerialization.jsonObject(with: manifest) as? [String: Any],
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

    /// The target of a folder of it: `Gateway/Leases` is of Gateway.
    static func target(_ folder: String) -> String { String(folder.prefix { $0 != "/" }) }

    func has(_ name: String) -> Bool { targets[name] != nil }

    /// It and everything that it stands on.
    func closure(of names: some Sequence<String>) -> Set<String> {
        var closed: Set<String> = []
        var open = Array(names)
        while let name = open.popLast() {
            guard closed.insert(name).inserted, let target = targets[name] else { continue }
            open += target.dependencies
        }
        return closed
    }

    /// The tests that are named for the target, or the ones of the target that has its folder of tests.
    func ownTests(of target: String) -> [String] { has("\(target)Tests") ? ["\(target)Tests"] : [] }

    /// The other tests whose program has the target in it.
    func testsAbove(_ target: String) -> [String] {
        targets.values.filter { $0.isTest && closure(of: [$0.name]).contains(target) }.map(\.name)
            .filter { !ownTests(of: target).contains($0) }.sorted()
    }
}
