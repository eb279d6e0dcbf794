import Foundation
import Testing

/// A family of meters is one folder: nothing outside asks whose meter it has, but asks the family for what it wants to
/// know (`FamilyDescription`).
struct FamilyTests {
    /// Files outside the families' folders that name a family or a model, and why.
    private static let exempt = [
        "Sources/MeterCodec/Frame.swift": "frames that are read without a box",
        "Sources/MeterCodec/MeterCatalogue.swift": "the list",
        "Sources/Gateway/Recordings/ImportService.swift": "whose files a program writes",
        "Sources/USBTransport/KnownUSBDevice.swift": "makers of devices that are not read",
        "Sources/meterd/Demo.swift": "the meters that it shows",
        "Sources/MeterTestKit/Contracts/MeterRepositoryContract.swift": "any models",
    ]

    @Test func nothingOutsideAFamily_asksWhichItIs() throws {
        let (folders, names) = try Self.families()
        #expect(folders.count > 4)
        #expect(names.isSuperset(of: ["um", "um25c", "km003c", "atorchDC"]))
        var naming: Set<String> = []
        for file in try SourceTree.swiftFiles(below: SourceTree.sources) {
            let isFamilys = folders.contains {
                file.name.hasPrefix("Sources/MeterCodec/\($0)/") || file.name.hasPrefix("Sources/MeterSimulator/\($0)/")
            }
            guard !isFamilys, !file.name.hasPrefix("Sources/Domain/MeterModel/") else { continue }
            let found = Self.members(in: file.text).intersection(names)
            guard !found.isEmpty else { continue }
            naming.insert(file.name)
            #expect(Self.exempt[file.name] != nil, "\(file.name) names \(found.sorted()): ask the family")
        }
        #expect(naming == Set(Self.exempt.keys))
    }

    @Test func glossary_namesEveryFamily() throws {
        let page = try String(contentsOf: SourceTree.root.appending(path: "Docs/Glossary.md"), encoding: .utf8)
        let words = page.lowercased().replacing("-", with: "")
        let files = try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: "MeterCodec"))
        let code = files.map(\.text).joined()
        let families = code.matches(of: /static let (\w+) = MeterFamily\(/).map { String($0.1) }
        #expect(families.count > 4)
        for family in families {
            #expect(words.contains(family.lowercased()), "Docs/Glossary.md lacks the family \(family)")
        }
    }

    /// A check that cannot fail is worth nothing.
    @Test func members_areFoundInCodeAlone() {
        let code = """
            if model == .um25c {}
                // not .tc66c
            let a = b.c1.count + "x.km003c" + [.um]
                case (.atorch, _): 1
            """
        #expect(Self.members(in: code).isSuperset(of: ["um25c", "um", "atorch"]))
        #expect(Self.members(in: code).isDisjoint(with: ["tc66c", "c1", "km003c"]))
    }

    /// The folders of families, and the names of families and models that they declare.
    private static func families() throws -> (folders: Set<String>, names: Set<String>) {
        var folders: Set<String> = []
        var names: Set<String> = []
        for file in try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: "MeterCodec")) {
            let found = file.text.matches(of: /static let (\w+) = (?:MeterFamily|ModelName)\(/)
            guard !found.isEmpty, let folder = file.name.split(separator: "/").dropLast().last else { continue }
            folders.insert(String(folder))
            names.formUnion(found.map { String($0.1) })
        }
        return (folders, names)
    }

    /// What is named by a leading dot, as in `.um25c`, or by its type, outside comments.
    private static func members(in text: String) -> Set<String> {
        text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.reduce(into: []) { found, line in
            let names = line.matches(of: /(?:^|[\s(\[,!]|ModelName|MeterFamily)\.(\w+)/)
            found.formUnion(names.map { String($0.1) })
        }
    }
}
