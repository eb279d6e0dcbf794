import Foundation
import MeterModel
import Testing

struct ErrorWordsTests {
    private struct Body: Codable { var zone: [String: Int] }

    private struct Bare: Error { var secret = 1 }

    private struct Worded: Error, CustomStringConvertible { var description: String { "the disk is full" } }

    @Test(arguments: [
        ("{", "it is not valid JSON"), ("{}", "zone is missing"), (#"{"zone":1}"#, "zone has the wrong type"),
        (#"{"zone":{"a":"b"}}"#, "zone.a has the wrong type"), ("[]", "the whole has the wrong type"),
    ])
    func unreadableJSON_isToldInWords(text: String, expected: String) throws {
        let error = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode(Body.self, from: Data(text.utf8))
        }
        #expect(words(for: error) == expected)
    }

    @Test func errors_areNeverShownAsSwiftValues() {
        #expect(words(for: Bare()) == "an error of the kind Bare")
        #expect(words(for: Worded()) == "the disk is full")
        #expect(words(for: CancellationError()) == "it was cancelled")
        #expect(words(for: Bare()) { $0 is Bare ? "known" : nil } == "known")
    }
}
