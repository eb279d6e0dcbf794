import Domain
import Testing

/// What people see of text from elsewhere.
struct VisibleTextTests {
    @Test(arguments: [
        "", "bench", "Küche", "电表", "कमरा", "متر", "a b~", "🔋", "❤️", "e\u{301}", "µΩ", "\u{FFFD}", "\\n",
    ])
    func text_isAsItIs(text: String) { #expect(text.visible == text) }

    /// Both sets of control characters, marks of direction, what has no width, separators, tags, private and unassigned
    /// ones, variation selectors that choose no picture.
    @Test(
        arguments: [
            0x00...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0xAD...0xAD, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0x3164...0x3164, 0xE000...0xE001, 0xFDD0...0xFDD1, 0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xE0000...0xE007F,
            0xE0100...0xE01EF, 0xF0000...0xF0001, 0x10FFFF...0x10FFFF,
        ] as [ClosedRange<UInt32>])
    func whatCannotBeSeen_isAnEscape(range: ClosedRange<UInt32>) throws {
        for value in range {
            let scalar = try #require(Unicode.Scalar(value))
            let shown = "a\(Character(scalar))b".visible
            #expect(shown == "a\(scalar.escaped)b")
            #expect(shown.unicodeScalars.allSatisfy { $0.isVisible })
        }
    }

    /// Digits and two signs of ASCII count as emoji in Unicode; a selector behind one of them could only hide.
    @Test(arguments: ["0", "9", "#", "*"], ["\u{FE0E}", "\u{FE0F}"])
    func variationSelector_behindASCII_isAnEscape(letter: String, selector: String) throws {
        let scalar = try #require(selector.unicodeScalars.first)
        #expect((letter + selector).visible == letter + scalar.escaped)
        #expect(("©" + selector).visible == "©" + selector)
    }

    @Test func escapes_nameTheirCharacter() {
        #expect("a\u{1B}[2J\u{202E}\r\n\t".visible == #"a\u{1B}[2J\u{202E}\r\n\t"#)
    }

    @Test func linesAreKept_whereTheTextHasSeveral_andNothingElseIs() {
        #expect("a\nb\r\u{2028}".visible(linesKept: true) == "a\nb" + #"\r\u{2028}"#)
    }

    @Test func controlCharacters_areTold() {
        for text in ["\n", "\r\n", "\t", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}"] {
            #expect(text.contains { $0.isControl })
        }
        #expect(!"Büro 👩‍🔧".contains { $0.isControl })
    }
}
