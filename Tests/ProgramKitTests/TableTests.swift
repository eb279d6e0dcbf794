import Domain
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

    @Test func columns_areStraight_whateverTheLettersWidth() {
        var table = Table(["A", "B"])
        table.add(["充电宝", "x"])
        table.add(["e\u{301}🔋", "y"])
        table.add(["bench", "z"])

        #expect(table.lines == ["A       B", "充电宝  x", "e\u{301}🔋     y", "bench   z"])
    }

    @Test func wideColumns_areCut_toTheWidthOfTheTerminal() {
        var table = Table(["ID", "NAME", "STATE", "VOLTAGE"])
        table.add([
            .init("02:00:00:00:25:0C"), .init("the one in the attic"), .init("data-available"),
            .init("5.106 V", isWhole: true),
        ])

        #expect(table.lines(fitting: 65) == table.lines)
        #expect(
            table.lines(fitting: 60) == [
                "ID                 NAME              STATE           VOLTAGE",
                "02:00:00:00:25:0C  the one in the …  data-available  5.106 V",
            ])
        #expect(
            table.lines(fitting: 46) == [
                "ID                 NAME      STATE     VOLTAGE", "02:00:00:00:25:0C  the one…  data-av…  5.106 V",
            ])
        // What names the row goes last, and then the ends of the lines.
        #expect(table.lines(fitting: 40).last == "02:00:00:0…  the one…  data-av…  5.106 V")
        for room in 1...70 { #expect(table.lines(fitting: room).allSatisfy { $0.displayWidth <= room }) }
    }

    @Test func listOfFacts_isWrapped_andLosesNothing() {
        var table = Table(["FIELD", "VALUE"])
        table.add(["error", "no answer: is it switched on?"])
        table.add(["id", "0123456789a"])

        #expect(
            table.lines(fitting: 17) == [
                "FIELD  VALUE", "error  no answer:", "       is it", "       switched", "       on?",
                "id     0123456789", "       a",
            ])
    }

    @Test func lastColumn_isWrapped_beforeAnythingIsCut() {
        var table = Table(["CHECK", "VERDICT", "WHAT TO DO"], wrapsLast: true)
        table.add(["a long name of a check", "problem", "switch it on, and look whether it answers"])
        table.add(["", "", "→ then again"])

        #expect(
            table.lines(fitting: 64) == [
                "CHECK                   VERDICT  WHAT TO DO",
                "a long name of a check  problem  switch it on, and look whether",
                "                                 it answers", "                                 → then again",
            ])
    }

    @Test func endlessText_isBounded_whereverItIsShown() {
        let name = String(repeating: "電", count: 10_000)
        var (list, facts) = (Table(["NAME", "HOST", "STATE"]), Table(["NAME", "VALUE"]))
        list.add([name, name, "data"])
        facts.add(["name", name])

        #expect(list.width < 530)
        #expect(facts.lines(fitting: 80, isPlain: true).count < 40)
    }

    @Test func cellsFromElsewhere_keepTheirLineAndTheirOrder() {
        var table = Table(["A", "B"])
        table.add(["x\n\u{1B}]0;y\u{7}", "\u{202E}z"])

        #expect(table.lines.last == #"x\n\u{1B}]0;y\u{7}  \u{202E}z"#)
    }
}
