import ProgramKit
import Testing

struct TableTests {
    @Test func table_isAsWideAsItsCells() {
        var table = Table(["A", "LONG", "C"])
        table.add(["aaaa", "b", ""])
        table.add(["–", "bb", "c"])

        #expect(table.lines == ["A     LONG  C", "aaaa  b", "–     bb    c"])
    }

    @Test func emptyCells_keepTheirPlace() {
        var table = Table(["A", "B", "C"])
        table.add(["", "bbb", "c"])

        #expect(table.lines == ["A  B    C", "   bbb  c"])
    }

    @Test func cellsFromElsewhere_keepTheirLineAndTheirOrder() {
        var table = Table(["A", "B"])
        table.add(["x\n\u{1B}]0;y\u{7}", "\u{202E}z"])

        #expect(table.lines.last == #"x\n\u{1B}]0;y\u{7}  \u{202E}z"#)
    }
}
