import CoreTestKit
import Domain
import Foundation
import Testing

struct JSONTextTests {
    private func written(_ string: String) -> [UInt8] {
        var text: [UInt8] = []
        JSONText.write(string, to: &text)
        return text
    }

    @Test(
        arguments: [
            ("", #""""#), ("plain 5 °C é 😀", #""plain 5 °C é 😀""#), (#"a "b" \ /"#, #""a \"b\" \\ /""#),
            ("\n\t\u{0}\u{1F}", #""\u000a\u0009\u0000\u001f""#),
            ("\u{7F}\u{80}\u{9B}31m\u{9F}\u{A0}", "\"\\u007f\\u0080\\u009b31m\\u009f\u{A0}\""),
            ("\u{202E}\u{2028}", "\"\u{202E}\u{2028}\""),
        ])
    func string_isQuoted_andControlCharactersAreEscaped(string: String, json: String) {
        #expect(String(decoding: written(string), as: UTF8.self) == json)
    }

    /// Also by readers of others.
    @Test func everyCharacter_comesBack() throws {
        for first in stride(from: UInt32(0), to: 0x11_0000, by: 0x100) {
            let scalars = (first..<first + 0x100).compactMap { Unicode.Scalar($0) }
            let string = String(String.UnicodeScalarView(scalars))
            let json = written(string)
            #expect(try json.read { $0.string() } == string)
            #expect(scalars.allSatisfy { written(String($0)).count <= JSONText.bytesMax(of: String($0)) })
            #expect(try JSONDecoder().decode(String.self, from: Data(json)) == string)
        }
    }

    @Test func encodersJSON_isTheSame_withoutControlCharacters() throws {
        let texts = ["\u{9B}2J\u{7F}é°\u{1B}", "plain", "\u{85}"]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let json = JSONText.escapingControls(String(decoding: try encoder.encode(texts), as: UTF8.self))

        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == texts)
        #expect(json.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(json.contains("\n") && json.contains("é°"))
        #expect(JSONText.escapingControls("{\"a\":\"é\"}") == "{\"a\":\"é\"}")
    }
}
