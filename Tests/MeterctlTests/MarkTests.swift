import Domain
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct MarkTests {
    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private static func mark(_ name: String, _ from: Int, _ to: Int?) -> MarkBody {
        func text(_ seconds: Int) -> String { (start + .seconds(seconds)).description }
        return MarkBody(
            id: "id\(from)", meter: "m", name: name, from: text(from), to: to.map(text), is_local: from == 1,
            host: "bench",
            host_id: "h")
    }

    private let choice = MarkChoice(
        [mark("boot", 1, 5), mark("screen on", 6, 6), mark("boot", 10, 12), mark("a#2", 13, 13), mark("run", 20, nil)],
        of: "lamp")

    @Test(arguments: [
        (["boot#1"], 1, 5), (["boot#2"], 10, 12), (["run"], 20, 30), (["screen on", "boot#2"], 6, 12),
        (["boot#1", "screen on"], 1, 6), (["a#2", "run"], 13, 30), (["id1", "id10"], 1, 12),
    ])
    func between_isTheTimeOfTheMarks(words: [String], from: Int, to: Int) throws {
        let span = try choice.span(between: words, Self.start + .seconds(30))
        #expect(span == Self.start + .seconds(from)..<Self.start + .seconds(to))
    }

    @Test(arguments: [
        (["boot"], "lamp has 2 marks called \"boot\"", "say which: boot#1 to boot#2"),
        (["boot#3"], "lamp has no mark called \"boot#3\"", "did you mean boot#"),
        (
            ["screen on"], "\"screen on\" is a moment, but a stretch of time needs two ends",
            "name a second mark, or a span"
        ),
        (["run", "boot#1"], "\"boot\" does not end after \"run\" begins", "name the earlier mark first"),
    ])
    func unclearStretch_saysWhatToType(words: [String], message: String, next: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try choice.span(between: words, Self.start + .seconds(30))
        }
        #expect(failure?.message == message)
        #expect(failure?.next.hasPrefix(next) == true)
    }

    @Test func list_hasWhatToTypeForEachMark() {
        #expect(choice.table(.utc).lines[1].contains("bench, local"))
        #expect(choice.table(.utc).lines[5].contains("open"))
        #expect(choice.handles.map(\.handle) == ["boot#1", "screen on", "boot#2", "a#2", "run"])
    }

    @Test(arguments: [
        (
            ["mark", "lamp", "boot", "--", "./run", "--", "x"],
            ["mark", "lamp", "boot", "--program", "./run", "--", "x"]
        ),
        (["assert", "lamp", "max(power) < 2 W", "--", "a"], ["assert", "lamp", "max(power) < 2 W", "--program", "a"]),
        (["watch", "--", "a"], ["watch", "--", "a"]),
    ])
    func programBehindDashes_isSpelledOut(_ arguments: [String], _ expected: [String]) {
        #expect(ProgramOption.spelledOut(arguments) == expected)
    }

    @Test(arguments: [
        ["mark", "lamp", "screen on"], ["mark", "lamp", "boot", "--local", "--", "./run", "-x"],
        ["mark", "start", "lamp", "boot"],
        ["mark", "end", "lamp", "boot#2"], ["mark", "list", "lamp"], ["mark", "rename", "lamp", "a", "b"],
        ["mark", "delete", "lamp", "a", "--yes"], ["mark", "lamp", "--from-stdin", "--match", "a(b)"],
        ["stretch", "lamp", "--between", "a", "b"], ["assert", "lamp", "max(power) < 2 W", "--between", "boot"],
        ["export", "lamp", "--between", "a", "b", "--format", "json"],
    ])
    func command_isUnderstood(_ arguments: [String]) async throws {
        _ = try await Meterctl.command(for: arguments)
    }

    @Test(arguments: [
        ["mark", "lamp"], ["mark", "lamp", "a", "--from-stdin", "--match", "(a)"], ["mark", "lamp", "--from-stdin"],
        ["mark", "lamp", "a", "--at", "2h", "--", "./run"], ["stretch", "lamp", "--between", "a", "b", "c"],
        ["stretch", "lamp", "--between", "a", "--from", "2h"],
    ])
    func wrongUsage_isRefused(_ arguments: [String]) async {
        await #expect(throws: (any Error).self) { _ = try await Meterctl.command(for: arguments) }
    }

    @Test func linesThatAreNoMarks_areCounted() {
        var lines = MarkLines()
        for number in 0..<8 { _ = lines.take(number == 0 ? nil : "a", at: .origin) }

        #expect(MarkStream.summary(MarkLines(), refused: 0) == "0 marks set")
        #expect(
            MarkStream.summary(lines, refused: 1)
                == "4 marks set; of the other lines 1 did not match, 2 came faster than 5 a second, 1 could not be marked"
        )
    }
}
