import Foundation
import Testing

/// What a text refers to is there: pages of Docs with their sections, files and folders, and the names in the code that a
/// page shows its readers.
struct CitationTests {
    @Test func citationsOfPages_resolve() throws {
        for file in try Self.texts() {
            for citation in Citation.pages(in: file.text) {
                let fault = fault(of: citation)
                #expect(fault == nil, "\(file.name) cites \(citation.whole): \(fault ?? "")")
            }
        }
    }

    /// A document that a reader does not have explains nothing. Those of other projects are named with the project.
    @Test func everyDocumentThatIsNamed_isHere() throws {
        let texts = try Self.texts()
        let own = Set(texts.map { Citation.last(of: $0.name) })
        for file in texts where !Self.namesOtherProjectsFiles(file.name) {
            let missing = Citation.documents(in: file.text).subtracting(own).subtracting(Self.foreign)
            #expect(missing.isEmpty, "\(file.name) names \(missing.sorted()), which the project does not have")
        }
    }

    @Test func linksOfPages_leadSomewhere() throws {
        for file in try Self.texts() where file.name.hasSuffix(".md") {
            for link in Citation.links(in: file.text) where !link.target.contains("://") {
                let fault = fault(of: link, from: file.name)
                #expect(fault == nil, "\(file.name) links \(link.target): \(fault ?? "")")
            }
        }
    }

    /// Every page of Docs and both contracts can be found from the index.
    @Test func index_linksEveryPage() throws {
        let docs = SourceTree.root.appending(path: "Docs")
        let index = try String(contentsOf: docs.appending(path: "README.md"), encoding: .utf8)
        let linked = Set(Citation.links(in: index).map(\.target))
        let pages = try FileManager.default.contentsOfDirectory(atPath: docs.path)
            .filter { $0 != "README.md" && ($0.hasSuffix(".md") || $0.hasSuffix(".yaml")) }
        let missing = Set(pages).subtracting(linked).sorted()
        #expect(missing.isEmpty, "Docs/README.md does not link \(missing)")
    }

    /// A check that cannot fail is worth nothing: this one finds what it looks for.
    @Test func citations_areFoundAndJudged() {
        let text = "see Docs/Leases.md#rule-99 and Docs/Nowhere.md, Docs/Decisions/0013, Docs/Decisions/9999."
        #expect(Citation.pages(in: text).map { fault(of: $0) != nil } == [true, true, false, true])
        #expect(Citation.documents(in: "by spec/plan.md, 2.1, and *.md") == ["plan.md"])
        let lost =
            "[`LeaseTerms.nowhere`](../Sources/Domain/LeaseCore) [`LeaseTerms.over`](../Sources/Domain/LeaseCore) [a](B.md)"
        #expect(Citation.links(in: lost).map { fault(of: $0, from: "Docs/A.md") != nil } == [true, false, true])
        let page = "# A `b`, c: d\n```\n# no\n```\n## A b c d\n## Ü 1"
        #expect(Citation.anchors(in: page) == ["a-b-c-d", "a-b-c-d-1", "ü-1"])
    }

    /// Documents of other projects: each is named beside its project.
    private static let foreign: Set<String> = [
        "PROTOCOL.md", "REVERSE.md", "pd_trace.md", "pd_connection_events.md", "adcqueue.md", "protocol.md",
        "k2-monitor-hardware-validation.md", "CHANGELOG-formats.md", "custom-importer.md", "loading-in-profiles.md",
    ]

    /// Lists of devices name the places where others have described them.
    private static func namesOtherProjectsFiles(_ name: String) -> Bool {
        name.hasPrefix("Tests/Identities/") || name == "Docs/Identities.md" || name.hasPrefix("Tests/Captures/")
    }

    /// All but this one, which cites what is nowhere.
    private static func texts() throws -> [(name: String, text: String)] {
        try SourceTree.texts().filter { !$0.name.hasSuffix("CitationTests.swift") }
    }
}

// MARK: - What is wrong

/// Why a citation `Docs/Page.md#section` leads nowhere; nil where it is good.
private func fault(of citation: Citation) -> String? {
    if let number = citation.path.wholeMatch(of: #/Docs/Decisions/([0-9]{4})/#)?.1 {
        let folder = SourceTree.root.appending(path: "Docs/Decisions").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { $0.hasPrefix(number + "-") } ? nil : "no such decision"
    }
    return fault(ofFile: SourceTree.root.appending(path: citation.path), anchor: citation.anchor)
}

/// Why a link of a page leads nowhere; nil where it is good. A text in code style holds names that the linked source, or
/// one below the linked folder, has.
private func fault(of link: Citation.Link, from page: String) -> String? {
    let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let page = SourceTree.root.appending(path: page)
    let file = parts[0].isEmpty ? page : page.deletingLastPathComponent().appending(path: parts[0]).standardized
    if let fault = fault(ofFile: file, anchor: parts.count > 1 ? parts[1] : nil) { return fault }
    guard link.text.hasPrefix("`"), link.text.hasSuffix("`"), file.pathExtension != "md" else { return nil }
    let code = sourceText(at: file)
    let names = link.text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    let missing = names.filter { code.range(of: $0) == nil && $0 != Citation.last(of: file.path) }
    return missing.isEmpty ? nil : "it has no \(missing.joined(separator: ", "))"
}

private func fault(ofFile file: URL, anchor: String?) -> String? {
    guard FileManager.default.fileExists(atPath: file.path) else { return "no such file" }
    guard let anchor else { return nil }
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return "it has no sections" }
    return Citation.anchors(in: text).contains(anchor) ? nil : "no such section"
}

/// The text of a source, or of all Swift sources below a folder.
private func sourceText(at file: URL) -> String {
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
    if isFolder.boolValue { return ((try? SourceTree.swiftFiles(below: file)) ?? []).map(\.text).joined() }
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
}

// MARK: - What a text refers to

/// A page that a text names from the root of the project: `Docs/Leases.md#rule-5`.
private struct Citation {
    struct Link {
        var text: String
        var target: String
    }

    var path: String
    var anchor: String?
    var whole: String { path + (anchor.map { "#" + $0 } ?? "") }

    static func pages(in text: String) -> [Citation] {
        let parts = text.components(separatedBy: "Docs/")
        return zip(parts, parts.dropFirst()).compactMap { before, after in
            guard before.last.map({ !isOfPath($0) }) ?? true else { return nil }
            let path = after.prefix { isOfPath($0) }
            let rest = after.dropFirst(path.count)
            let anchor = rest.first == "#" ? rest.dropFirst().prefix { isOfName($0) } : ""
            let trimmed = String(path.reversed().drop { $0 == "." || $0 == "/" }.reversed())
            return Citation(path: "Docs/" + trimmed, anchor: anchor.isEmpty ? nil : String(anchor))
        }
    }

    /// The names of Markdown files that a text has, without folders.
    static func documents(in text: String) -> Set<String> {
        let parts = text.components(separatedBy: ".md")
        let names = zip(parts, parts.dropFirst()).compactMap { before, after -> String? in
            guard after.first.map({ !isOfName($0) }) ?? true else { return nil }
            let path = String(before.reversed().prefix { isOfPath($0) }.reversed())
            return path.isEmpty || path.hasSuffix("/") ? nil : last(of: path) + ".md"
        }
        return Set(names)
    }

    static func links(in page: String) -> [Link] {
        lines(of: page).flatMap { line in
            line.matches(of: #/\[(?<text>[^\]]*)\]\((?<target>[^)\s]+)\)/#)
                .map { Link(text: String($0.text), target: String($0.target)) }
        }
    }

    /// The anchors of a page's headings, made as GitHub makes them.
    static func anchors(in page: String) -> [String] {
        var counts: [String: Int] = [:]
        return lines(of: page).filter { $0.wholeMatch(of: #/#{1,6} .*/#) != nil }.map { line in
            let kept = line.drop { $0 == "#" }.dropFirst().lowercased().filter { isOfName($0) || $0 == " " }
            let anchor = kept.replacing(" ", with: "-")
            let count = counts[anchor, default: 0]
            counts[anchor] = count + 1
            return count == 0 ? anchor : "\(anchor)-\(count)"
        }
    }

    static func last(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// The lines of a page outside its blocks of code.
    private static func lines(of page: String) -> [Substring] {
        var isCode = false
        return page.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            guard !line.hasPrefix("```") else {
                isCode.toggle()
                return false
            }
            return !isCode && !line.hasPrefix("    ")
        }
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "-" || character == "_"
    }

    private static func isOfPath(_ character: Character) -> Bool {
        isOfName(character) || character == "/" || character == "."
    }
}
