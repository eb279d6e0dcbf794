import Foundation
import Testing

/// Plain English in what people read: README, Docs, manual pages, help texts, errors, the web page and comments. Say what a
/// thing is, not what it is none of.
struct WordingTests {
    private struct Phrase: Sendable {
        /// A regular expression, case and line ends apart.
        var pattern: String
        var instead: String
        /// Beginnings of matches that are good English, such as "there is none".
        var but: [String] = []
    }

    private static let worn = [
        Phrase(pattern: #"(\w+ )?\b(is|are|was) none\b"#, instead: "say what it is", but: ["there "]),
        Phrase(
            pattern: #"(\w+ )?\b(is|be) no (?!longer|more|less|larger|such|room|way|part|need|reason|use|doubt|one\b)"#,
            instead: "is not a", but: ["there "]),
        Phrase(pattern: #"\b(is|are) meant by\b"#, instead: "is named by"),
        Phrase(pattern: #"\bbytes passed over\b|\bpass(es|ed)? over\b"#, instead: "skip, ignore"),
        Phrase(pattern: #"\bmend(s|ed|ing)?\b"#, instead: "fix, repair"),
        Phrase(pattern: #"\bmood(s|y)?\b"#, instead: "state, peculiarity"),
        Phrase(pattern: #"\bhere as everywhere\b"#, instead: "leave it out"),
        Phrase(pattern: #"\bcounts? for (more|less)\b"#, instead: "takes precedence"),
        Phrase(pattern: #"\blooks? why\b"#, instead: "finds out why, diagnoses"),
        Phrase(pattern: #"\bevery key(,| is here,) switched off\b"#, instead: "commented out"),
        Phrase(pattern: #"\b(waits?|have|has) to be told\b"#, instead: "waits to be sent"),
        Phrase(pattern: #"\brubbish\b"#, instead: "noise, bytes that belong to no frame"),
    ]

    @Test func peoplesTexts_useNoWornPhrase() throws {
        for text in try Self.texts() {
            for phrase in Self.worn {
                let hits = try Self.hits(of: phrase, in: text.text)
                #expect(hits.isEmpty, "\(text.name) says \(hits): \(phrase.instead)")
            }
        }
    }

    /// Of every target, and of what the tests share.
    @Test func comments_useNoWornPhrase() throws {
        for file in try SourceTree.texts() where file.name.hasPrefix("Sources/") && file.name.hasSuffix(".swift") {
            let comments = Self.comments(in: file.text)
            for phrase in Self.worn {
                let hits = try Self.hits(of: phrase, in: comments)
                #expect(hits.isEmpty, "\(file.name) says \(hits): \(phrase.instead)")
            }
            #expect(!comments.contains("\nnil:"), "\(file.name): say what the value is, then when it is nil")
        }
    }

    /// A check that cannot fail is worth nothing: this one finds what it looks for, over the ends of lines too.
    @Test func wornPhrases_areFound() throws {
        let text = "A reply\nis none. There is none. Bytes are passed\nover, what has to be told. It is no meter."
        let found = try Self.worn.flatMap { try Self.hits(of: $0, in: text) }
        #expect(found == ["reply is none", "It is no ", "passed over", "has to be told"])
        let code = "let a = \"one\" // \"two\"\n    // \"no\"\nb(\"\"\"\n  three\n  \"\"\")"
        #expect(Self.literals(in: code) == "one two three")
        #expect(Self.comments(in: "/// nil: nobody.\nlet a = 1 // one\n    // two") == "\nnil: nobody.\ntwo")
    }

    private static func hits(of phrase: Phrase, in text: String) throws -> [String] {
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // Foundation's, which is quick over megabytes.
        let pattern = try NSRegularExpression(pattern: phrase.pattern, options: .caseInsensitive)
        return pattern.matches(in: words, range: NSRange(words.startIndex..., in: words))
            .compactMap { Range($0.range, in: words).map { String(words[$0]) } }
            .filter { hit in !phrase.but.contains { hit.lowercased().hasPrefix($0) } }
    }

    /// What people read. Past entries of the changelog stay as they were written.
    private static func texts() throws -> [(name: String, text: String)] {
        try SourceTree.texts().compactMap { file in
            let ending = (file.name as NSString).pathExtension
            if file.name == "README.md" || file.name.hasPrefix("Packaging/manual/") { return file }
            if file.name.hasPrefix("Docs/"), file.name != "Docs/Changelog.md" {
                return ["md", "yaml"].contains(ending) ? file : nil
            }
            guard file.name.hasPrefix("Sources/"), !file.name.hasPrefix("Sources/MeterTestKit/") else { return nil }
            return ["swift", "js", "html"].contains(ending) ? (file.name, literals(in: file.text)) : nil
        }
    }

    /// The comments that have lines of their own, a line each.
    private static func comments(in code: String) -> String {
        code.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("//") }
            .map { "\n" + $0.drop { $0 == "/" || $0 == " " } }.joined()
    }

    /// The texts between quotation marks, without comments.
    private static func literals(in code: String) -> String {
        var isBlock = false
        var found: [String] = []
        for line in code.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if line.contains("\"\"\"") {
                isBlock.toggle()
            } else if isBlock {
                // A comment in SQL is for who reads the code, and part of a schema that stays as it is.
                if !line.hasPrefix("--") { found.append(String(line)) }
            } else if !line.hasPrefix("//"), line.contains("\"") || line.contains("`") {
                let parts = line.split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "`" }
                found += parts.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
        }
        return found.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }
}
