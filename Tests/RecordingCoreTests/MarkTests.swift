import CoreTestKit
import Domain
import Testing

struct MarkTests {
    @Test(arguments: [
        ("screen on", "screen on"), ("  a\tb\r\nc  ", "a b c"), ("\u{1B}[31mred\u{202E}", "[31mred"),
        ("\u{0}\u{7F}", ""),
        ("état\u{301} ok", "état\u{301} ok"), (String(repeating: "x", count: 90), String(repeating: "x", count: 80)),
        (String(repeating: "x", count: 79) + " yz", String(repeating: "x", count: 79)),
    ])
    func name_isOneVisibleLine(text: String, name: String) {
        #expect(Mark.cleaned(text, isCut: true) == name)
    }

    /// One character may have any number of accents.
    @Test func name_isBoundedInBytesToo() {
        let text = Mark.cleaned("a" + String(repeating: "\u{301}", count: 5000), isCut: true)
        #expect(text.utf8.count <= 640 && Mark.isName(text))
        #expect(!Mark.isName(Mark.cleaned("a" + String(repeating: "\u{301}", count: 5000))))
    }

    @Test func mark_comesBack_fromItsProperties() {
        let id = RecordingID(host: .here, meter: .bench, token: 3, started: .start)
        for end in [WallTime.start, .start + .seconds(5), nil] {
            let mark = Mark(id: id, name: "boot", end: end)
            #expect(Mark(id: id, properties: mark.properties) == mark)
        }
    }

    /// What another host sends is read as far as it makes sense. A deletion hides what is older, so that a rename or an end at
    /// the same time leaves a part.
    @Test(arguments: [
        ["name": SettingValue.string("a")], ["is_span": .bool(true), "end_ms": .int(5)],
        ["name": .int(1), "is_span": .bool(true)],
        ["name": .string("\n"), "is_span": .bool(false)], ["name": .string("a"), "is_span": .int(1)], [:],
    ])
    func part_isNoMark(properties: [String: SettingValue]) {
        #expect(
            Mark(id: RecordingID(host: .here, meter: .bench, token: 0, started: .start), properties: properties) == nil)
    }

    @Test func endBeforeTheBegin_isTheBegin() {
        let id = RecordingID(host: .here, meter: .bench, token: 0, started: .start)
        let mark = Mark(id: id, properties: ["name": .string("a"), "is_span": .bool(true), "end_ms": .int(.min)])
        #expect(mark?.end == .start)
    }

    // MARK: Lines

    /// Lines with what they capture, so many milliseconds after the begin.
    private func take(_ lines: [(Int, String?)]) -> (MarkLines, [String]) {
        var machine = MarkLines()
        let names = lines.compactMap { machine.take($0.1, at: .origin + .milliseconds($0.0)) }
        return (machine, names)
    }

    @Test func lines_becomeMarks_atMostFiveInAnySecond() {
        let (lines, names) = take([
            (0, "a"), (100, nil), (200, "\u{1B}"), (300, "b"), (400, "c"), (500, "d"), (600, "e"), (700, "f"),
            (999, "g"),
            (1000, "h"), (1001, "i"), (1300, "j"),
        ])

        #expect(names == ["a", "b", "c", "d", "e", "h", "j"])
        #expect(lines.marked == 7 && lines.unmatched == 2 && lines.tooFast == 3 && lines.tooMany == 0)
    }

    @Test func lines_becomeAThousandMarks_andNoMore() {
        let (lines, names) = take((0..<1010).map { ($0 * 200, "\($0)") })

        #expect(names.count == 1000 && names.last == "999")
        #expect(lines.tooMany == 10 && lines.tooFast == 0)
    }
}
