import Foundation
import Testing

/// State belongs to one file. An extension in another one may look at it; one that changes it makes a room of two files
/// whose rules nobody can read in one place. A type that grows is cut into parts that hide their state, not into files.
struct StateTests {
    /// Of a type that is extended in other files of its target no stored property can be changed there: actors, classes and
    /// state machines.
    @Test func typesWithExtensionsElsewhere_hideTheirState() throws {
        var found: [String: Int] = [:]
        for target in try SourceTree.targets(in: SourceTree.sources) {
            let files = try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: target))
            for file in files {
                let others = files.filter { $0.name != file.name }
                for type in types(in: file.text) where others.contains(where: { extends(type.name, $0.text) }) {
                    if !type.exposed.isEmpty { found["\(target).\(type.name)"] = type.exposed.count }
                }
            }
        }
        #expect(found.isEmpty)
    }

    @Test func typeFinder_findsWhatOthersMayChange() {
        let text = """
            package actor Keeper {
                nonisolated let loop: Loop
                private var hidden = 1
                private(set) var shown = 2
                package internal(set) var half: Int?
                var open: [Int] = [] {
                    didSet { look() }
                }
                static var shared = 3
                var computed: Int { 4 }
                package nonisolated var executor: Executor {
                    loop.executor
                }
                func act() {
                    var local = 5
                }
            }

            struct Values {
                var plain: Int
            }

            private struct SmallMachine: Sendable {
                var state = State.idle
            }
            """
        let found = types(in: text)
        #expect(found.map(\.name) == ["Keeper", "SmallMachine"])
        #expect(found.map(\.exposed) == [["half", "open"], ["state"]])
        #expect(extends("Keeper", "import A\npackage extension Keeper: Sendable {"))
        #expect(!extends("Keeper", "extension KeeperOfTwo {\n}\n// extension Keeper"))
    }
}

/// The actors, classes and state machines of a file, found by the indentation that swift-format keeps honest, each with
/// its stored properties that are not private.
private func types(in source: String) -> [(name: String, exposed: [String])] {
    var found: [(name: String, exposed: [String])] = []
    var isInside = false
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("}") { isInside = false }
        let words = line.split(separator: " ")
        if line.first?.isLetter == true,
            let kind = words.firstIndex(where: { ["actor", "class", "struct"].contains($0) }), kind + 1 < words.count
        {
            let name = String(words[kind + 1].prefix { $0.isLetter || $0.isNumber })
            isInside = words[kind] != "struct" || name.hasSuffix("Machine")
            if isInside { found.append((name, [])) }
        } else if isInside, line.prefix(while: { $0 == " " }).count == 4, let name = exposedProperty(words) {
            found[found.count - 1].exposed.append(name)
        }
    }
    return found
}

private func exposedProperty(_ words: [Substring]) -> String? {
    guard let place = words.firstIndex(of: "var"), place + 1 < words.count else { return nil }
    let modifiers = words[..<place]
    guard modifiers.allSatisfy({ $0.first?.isLetter == true }), !modifiers.contains("static"),
        !modifiers.contains(where: { $0.hasPrefix("private") || $0.hasPrefix("fileprivate") })
    else { return nil }
    let rest = words[place...]
    // Computed: its body begins without a value before it.
    if let body = rest.firstIndex(where: { $0.hasPrefix("{") }), !rest[..<body].contains("=") { return nil }
    return String(words[place + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
}

private func extends(_ type: String, _ source: String) -> Bool {
    source.split(separator: "\n").contains { line in
        let words = line.split(separator: " ")
        guard line.first?.isLetter == true, let place = words.firstIndex(of: "extension"), place + 1 < words.count
        else { return false }
        return words[place + 1].prefix { $0.isLetter || $0.isNumber } == type
    }
}
