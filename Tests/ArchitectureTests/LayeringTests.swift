import Foundation
import Testing

/// Arrows point down only. A target imports what Package.swift gives it: SwiftPM itself does not object to importing what a
/// dependency depends on. What the system has is given to some by this list.
private let systemModules: [String: Set<String>] = [
    "Foundation": ["MeterStore", "CloudStore", "MeterTestKit"],
    "FoundationEssentials": [
        "Notifications", "CloudEtcd", "CloudServer", "CloudClient", "GatewayServer", "ServerKit", "ProgramKit",
        "CloudHosting", "meterd", "meterctl", "metercloud",
    ],
    "Glibc": [
        "LinuxIO", "SystemBus", "USBTransport", "BlueZTransport", "HomeAutomation", "Notifications", "MeterStore",
        "CloudStore",
        "CloudServer", "CloudClient", "CloudHosting", "GatewayServer", "ServerKit", "StoreKit", "ProgramKit", "meterd",
        "meterctl", "metercloud", "MeterTestKit",
    ],
    "Synchronization": [
        "Gateway", "Cloud", "LinuxIO", "USBTransport", "BlueZTransport", "HomeAutomation", "MeterStore", "CloudStore",
        "CloudEtcd", "CloudServer", "CloudClient", "GatewayServer", "ServerKit", "ProgramKit", "meterd", "meterctl",
        "metercloud", "MeterTestKit",
    ],
]

/// Layers 0 and ½: no I/O, no clock, no random numbers, no package of others.
private let pure: Set<String> = [
    "Domain", "Cryptography", "MeterCodec", "MeterSimulator", "BluetoothCore", "ESPHomeCore", "GatewayAPI",
    "CloudAPI",
]

/// What the folders of Domain may use beside MeterModel, which all may. To the compiler they are one module.
private let domain: [String: Set<String>] = [
    "MeterModel": [], "ConnectionCore": [], "SettingsCore": [], "LeaseCore": [], "AlertCore": [], "ImportCore": [],
    "InfluxCore": [], "FormulaCore": [], "MetricsCore": [], "BackupCore": [], "HomeAutomationCore": [], "IOPorts": [],
    "RelayCore": ["LeaseCore"],
    "SyncCore": ["SettingsCore"], "LimitCore": ["AlertCore"],
    "RecordingCore": ["SettingsCore", "AlertCore"], "SampleCore": ["RecordingCore"],
]

struct LayeringTests {
    @Test func target_importsOnlyWhatItIsGiven() throws {
        let package = try PackageManifest.read()
        #expect(Set(try SourceTree.targets(in: SourceTree.sources)).isSubset(of: package.targets.map(\.name)))
        // The simulations and tools of Tests take what they need of the system.
        for target in package.targets where target.path.hasPrefix("Sources/") {
            let given = target.dependencies.union(systemModules.filter { $0.value.contains(target.name) }.keys)
            for file in try SourceTree.swiftFiles(below: SourceTree.root.appending(path: target.path)) {
                let others = imports(in: file.text).subtracting(given)
                #expect(others.isEmpty, "\(file.name) imports \(others.sorted())")
            }
        }
    }

    /// Headers of C, entry points, programs and the tests' kit need no row.
    @Test func architecture_hasARowForEveryTarget_andEveryFolderOfDomain() throws {
        let page = try String(contentsOf: SourceTree.root.appending(path: "Docs/Architecture.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let cells = rows.compactMap { $0.split(separator: "|").first }
        let named = Set(cells.flatMap { $0.split { !$0.isLetter } }.map(String.init))
        let targets = try SourceTree.targets(in: SourceTree.sources).filter { name in
            let isHeader = name.hasPrefix("C") && name.dropFirst().first?.isUppercase == true
            return !isHeader && name.first?.isUppercase == true && !name.hasSuffix("Main") && name != "MeterTestKit"
        }
        #expect(Set(targets).union(domain.keys).subtracting(named).sorted() == [])
    }

    @Test func cores_standOnCoresAlone() throws {
        let package = try PackageManifest.read()
        for target in package.targets where pure.contains(target.name) {
            let others = target.dependencies.subtracting(pure).subtracting(["COpenSSL", "CBuildInfo"])
            #expect(others.isEmpty, "\(target.name) depends on \(others.sorted())")
        }
    }

    @Test func folderOfDomain_usesOnlyWhatItMay() throws {
        let files = try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: "Domain")).map { file in
            (folder: String(file.name.split(separator: "/")[2]), text: file.text)
        }
        #expect(Set(files.map(\.folder)) == Set(domain.keys))
        #expect(FolderUse(of: files).beyond(domain) == [])
        // It would find what is there not.
        let planted = FolderUse(
            of: files + [("AlertCore", "func planted() -> LeaseTerms? { \"Stamp\".count > 0 // Stamp")])
        #expect(planted.beyond(domain) == ["AlertCore uses LeaseTerms of LeaseCore"])
    }

    @Test func programs_haveNoTestSupport() throws {
        let package = try PackageManifest.read()
        let support = Set(package.targets.filter { $0.path.hasPrefix("Tests/") }.map(\.name)).union(["MeterTestKit"])
        #expect(support.contains("CoreTestKit"))
        for target in package.targets where !support.contains(target.name) {
            #expect(target.dependencies.isDisjoint(with: support), "\(target.name)")
        }
    }

    /// Whoever edits a session does not rebuild the cloud, and a tool carries no engine that it never starts.
    @Test(arguments: ["metercloud", "meterctl"])
    func program_reachesNoEngineThatItIsNotGiven(program: String) throws {
        let engines: Set = [
            "Gateway", "MeterCodec", "MeterSimulator", "BlueZTransport",
        ]
        let package = try PackageManifest.read()
        let given = package.targets.first { $0.name == program }?.dependencies ?? []
        let foreign = package.reach(of: program).intersection(engines).subtracting(given)
        #expect(!given.isEmpty && foreign.isEmpty, "\(program) reaches \(foreign.sorted())")
    }

    /// A check that cannot fail is worth nothing: these find what they look for.
    @Test func importPattern_findsEveryForm() {
        let text = """
            import Alpha
            package import Beta
            @testable import Gamma
            @preconcurrency public import struct Delta.Thing
            // import Commented
            """
        #expect(imports(in: text) == ["Alpha", "Beta", "Gamma", "Delta"])
        func target(_ name: String, _ dependencies: Set<String>) -> PackageManifest.Target {
            PackageManifest.Target(name: name, path: "", dependencies: dependencies)
        }
        let manifest = PackageManifest(
            targets: [target("a", ["b", "c"]), target("b", ["d"]), target("d", ["a"]), target("e", ["f"])])
        #expect(manifest.reach(of: "a") == ["a", "b", "c", "d"])
    }
}

/// Which folders of one module use which, by the names that are declared outside of types.
private struct FolderUse {
    private var folders: [String: String] = [:]
    private var words: [String: Set<String>] = [:]
    /// Types within types, whose names may be those of another folder.
    private var inner: [String: Set<String>] = [:]

    init(of files: [(folder: String, text: String)]) {
        let kinds: Set = ["struct", "enum", "class", "protocol", "actor", "typealias", "func"]
        for (folder, text) in files {
            for line in text.split(separator: "\n") {
                let found = Self.words(of: line)
                words[folder, default: []].formUnion(found)
                guard let kind = found.firstIndex(where: kinds.contains), kind + 1 < found.count else { continue }
                let name = found[kind + 1]
                if line.first?.isWhitespace == false {
                    folders[name] = folder
                } else if found[kind] != "func" {
                    inner[folder, default: []].insert(name)
                }
            }
        }
    }

    /// What a folder uses and may not.
    func beyond(_ allowed: [String: Set<String>]) -> [String] {
        var found: [String] = []
        for (folder, words) in words {
            let known = (allowed[folder] ?? []).union([folder, "MeterModel"])
            for word in words.subtracting(inner[folder] ?? []) {
                guard let other = folders[word], !known.contains(other) else { continue }
                found.append("\(folder) uses \(word) of \(other)")
            }
        }
        return found.sorted()
    }

    /// The words of a line of code that are no member of anything, without texts and comments.
    private static func words(of line: Substring) -> [String] {
        let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
        let spoken = code.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        return spoken.filter { $0.offset.isMultiple(of: 2) }.flatMap { _, part in
            part.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
        }.filter { $0.first != "." }.map { String($0.prefix { $0 != "." }) }
    }
}

/// The package as SwiftPM reads Package.swift.
struct PackageManifest {
    struct Target {
        var name: String
        /// Its folder, from the project's.
        var path: String
        /// Of this package, and products of others.
        var dependencies: Set<String>
    }

    var targets: [Target]

    /// Everything that a target leads to, and itself.
    func reach(of target: String) -> Set<String> {
        var found: Set = [target]
        var next = [target]
        while let one = next.popLast() {
            next += (targets.first { $0.name == one }?.dependencies ?? []).filter { found.insert($0).inserted }
        }
        return found
    }

    /// In a scratch folder of its own: SwiftPM locks the one that the tests were built in.
    static func read() throws -> PackageManifest { try once.get() }

    private static let once = Result {
        let output = Pipe()
        let program = Process()
        let scratch = FileManager.default.temporaryDirectory.appending(path: "package-manifest-\(getpid())")
        defer { try? FileManager.default.removeItem(at: scratch) }
        program.executableURL = URL(filePath: "/usr/bin/env")
        program.arguments = [
            "WITH_TOOLS=1", "swift", "package", "--package-path", SourceTree.root.path, "--scratch-path", scratch.path,
            "dump-package",
        ]
        program.standardOutput = output
        // One suite alone (make quick) still has the layers of all.
        program.environment = ProcessInfo.processInfo.environment.filter { $0.key != "ONLY_SUITE" }
        try program.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        program.waitUntilExit()
        return try JSONDecoder().decode(Dump.self, from: text).manifest
    }

    private struct Dump: Decodable {
        struct Target: Decodable {
            var name: String
            var type: String
            var path: String?
            var dependencies: [[String: [Name?]]]
        }
        /// A name, or the condition behind it.
        struct Name: Decodable {
            var text: String?
            init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
        }
        var targets: [Target]

        var manifest: PackageManifest {
            PackageManifest(
                targets: targets.map { target in
                    let folder = target.type == "test" ? "Tests" : "Sources"
                    let names = target.dependencies.flatMap(\.values).compactMap { $0.first??.text }
                    return PackageManifest.Target(
                        name: target.name, path: target.path ?? "\(folder)/\(target.name)", dependencies: Set(names))
                })
        }
    }
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
