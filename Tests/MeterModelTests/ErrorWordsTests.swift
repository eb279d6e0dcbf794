import Domain
import Foundation
import Testing

struct ErrorWordsTests {
    private struct Body: Codable { var zone: [String: Int] }

    private struct Bare: Error { var secret = 1 }

    private struct Worded: Error, CustomStringConvertible { var description: String { "the disk is full" } }

    @Test(arguments: [
        ("{", "it is not valid JSON"), ("{}", "zone is missing"), (#"{"zone":1}"#, "zone has the wrong type"),
        (#"{"zone":null}"#, "zone has the wrong type"), (#"{"zone":{"a":null}}"#, "zone.a has the wrong type"),
        (#"{"zone":{"a":"b"}}"#, "zone.a has the wrong type"), ("[]", "the whole has the wrong type"),
    ])
    func unreadableJSON_isToldInWords(text: String, expected: String) throws {
        let error = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode(Body.self, from: Data(text.utf8))
        }
        #expect(words(for: error) == expected)
    }

    /// What a decoder of our own finds wrong has words of its own, where it says where.
    @Test func valueThatIsWrong_isToldWithItsPlace() {
        func words(at path: [any CodingKey]) -> String {
            Domain.words(
                for: DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "no port is 0")))
        }
        #expect(words(at: []) == "it is not valid JSON")
        #expect(words(at: ["web", "listen"].map(Key.init)) == "web.listen: no port is 0")
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func endlessWords_keepTheirBeginningAndTheirEnd() {
        let (short, accents) = (String(repeating: "é", count: 1000), String(repeating: "\u{301}", count: 5000))
        #expect(short.bounded == short)
        for text in ["a\(accents)b", "a\(short)\(short)b", "a\(accents)\(short)電b"] {
            #expect(text.bounded.utf8.count <= 2000)
            #expect(text.bounded.unicodeScalars.first == "a" && text.bounded.unicodeScalars.last == "b")
            #expect(!text.bounded.unicodeScalars.contains("\u{FFFD}"))
        }
    }

    @Test func errors_areNeverShownAsSwiftValues() {
        #expect(words(for: Bare()) == "an error of the kind Bare")
        #expect(words(for: Worded()) == "the disk is full")
        #expect(words(for: CancellationError()) == "it was cancelled")
        #expect(words(for: Bare()) { $0 is Bare ? "known" : nil } == "known")
    }
}
