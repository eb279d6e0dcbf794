import Domain
import Testing

struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("bench", 5), ("Prüfstand", 9), ("–…°Ω", 4), ("充电宝", 6), ("バンク", 6), ("뱅크", 4), ("ﾊﾞ", 2),
        ("ﾊ\u{FF9F}b", 3),
        ("Ａ", 2), ("e\u{301}", 1), ("a\u{301}\u{302}b", 2), ("🔋", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("⚡", 2), ("🇩🇪", 2),
        ("👍🏽", 2), ("1\u{FE0F}\u{20E3}", 2), ("ไฟ", 2), ("ที่", 1), ("𠮷", 2), ("→", 1), ("各\u{1112}\u{1161}\u{11AB}", 4),
    ])
    func text_takesSoManyCells(_ text: String, _ width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("bench", 5, "bench"), ("bench", 4, "ben…"), ("bench", 1, "…"), ("bench", 0, ""), ("充电宝", 6, "充电宝"),
        ("充电宝", 5, "充电…"), ("充电宝", 4, "充…"), ("充电宝", 2, "…"), ("e\u{301}a", 1, "…"), ("", 0, ""),
    ])
    func text_isCut_whereItDoesNotFit(_ text: String, _ cells: Int, _ cut: String) {
        #expect(text.fitting(cells) == cut)
        #expect(cut.displayWidth <= cells)
    }

    @Test func padding_fillsTheCells() {
        #expect("充电".padded(toCells: 6) == "充电  ")
        #expect("bench".padded(toCells: 3) == "bench")
    }

    /// The first and the last letter of each wide block, and their neighbours outside. The blocks are those of Unicode's
    /// EastAsianWidth.txt (https://www.unicode.org/Public/UCD/latest/ucd/EastAsianWidth.txt), rounded up to what is unassigned.
    @Test(
        arguments: [
            (0x1100, 0x115F), (0x2329, 0x232A), (0x2E80, 0x303E), (0x3041, 0x4DBF), (0x4E00, 0xA4CF), (0xA960, 0xA97F),
            (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE10, 0xFE19), (0xFE30, 0xFE6F), (0xFF01, 0xFF60), (0xFFE0, 0xFFE6),
            (0x16FE0, 0x18DFF), (0x1AFF0, 0x1B2FF), (0x1F200, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF),
            (0x20000, 0x3FFFD),
        ] as [(UInt32, UInt32)])
    func wideBlock_hasItsEnds(first: UInt32, last: UInt32) throws {
        for (value, isWide) in [(first - 1, false), (first, true), (last, true), (last + 1, false)] {
            // The letters of flags are wide as pictures.
            if value == 0x1F1FF { continue }
            let letter = Character(try #require(Unicode.Scalar(value)))
            #expect((letter.displayWidth == 2) == isWide, "\(String(value, radix: 16))")
        }
    }

    /// Parts of a syllable, marks and what cannot be seen take no room; the letters beside them do.
    @Test(
        arguments: [
            (0x115F, 2), (0x1160, 0), (0x11FF, 0), (0x1200, 1), (0xD7AF, 1), (0xD7B0, 0), (0xD7FF, 0), (0x2FF, 1),
            (0x300, 0),
            (0x20DD, 0), (0x200B, 0), (0x41, 1), (0xE000, 1), (0x303F, 1),
        ] as [(UInt32, Int)])
    func letterAlone_hasItsWidth(value: UInt32, width: Int) throws {
        let letter = Character(try #require(Unicode.Scalar(value)))
        #expect(letter.displayWidth == width, "\(String(value, radix: 16))")
    }

    @Test func prefix_takesWhatFits() {
        #expect("充电宝".prefix(cells: 4) == "充电")
        #expect("充电宝".prefix(cells: 3) == "充")
        #expect("bench".prefix(cells: 5) == "bench")
        #expect("bench".prefix(cells: 0).isEmpty)
        #expect("bench".padded(toCells: 8) == "bench   ")
        #expect("bench".padded(toCells: 5) == "bench")
    }
}
