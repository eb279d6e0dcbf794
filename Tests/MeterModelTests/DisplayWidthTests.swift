import MeterModel
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
}
