import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedBoardTests {
    private static let words = [
        "voltage", "current", "power", "energy", "charge", "temperature", "dp", "dn", "resistance", "frequency",
        "power_factor",
        "duration",
    ]

    private static func description(_ format: String, _ more: [String: DescriptionValue] = [:]) throws
        -> LineDescription
    {
        let fields: DescriptionValue =
            format == "columns"
            ? .list(words.map { .text($0) } + [.text("")])
            : .table(Dictionary(uniqueKeysWithValues: words.map { ($0, .text($0)) }))
        return try LineDescription(["format": .text(format), "fields": fields].merging(more) { $1 })
    }

    /// What it prints fits its description, in every format and with every check.
    @Test(arguments: ["pairs", "columns", "json"], ["none", "xor", "crc16"])
    func lines_fitTheirDescription(format: String, check: String) throws {
        let description = try Self.description(format, ["checksum": .text(check)])
        var board = SimulatedBoard(model: .generic, description)
        var decoder = LineDecoder(description)
        for bytes in board.due(at: .seconds(10)) { decoder.append(bytes) }
        var readings: [Reading] = []
        while let step = decoder.next() {
            if case .frame(let frame) = step { frame.forEachReading { readings.append($0) } }
        }
        #expect(readings.count == 10)
        let last = try #require(readings.last)
        #expect(last[.voltage].map { (4...6).contains($0) } == true)
        #expect(last[.frequency] == 50)
        #expect(last[.duration] == 10)
        #expect((last[.energy] ?? 0) > 0)
    }

    @Test func factorOffsetAndUnit_areUndone() throws {
        let description = try LineDescription([
            "fields": .table([
                "mA": .table([
                    "quantity": .text("current"), "factor": .number(0.001), "offset": .number(-0.5),
                    "unit": .text("mA"),
                ])
            ])
        ])
        var board = SimulatedBoard(
            model: .generic, description, load: ElectricalLoad(startCurrent: 1.5), greeting: [])
        let line = try #require(board.due(at: .seconds(1)).last)
        #expect(line.starts(with: Array("mA=".utf8)))
        #expect(line.reversed().starts(with: Array("\n\rAm ".utf8)))
        var decoder = LineDecoder(description)
        decoder.append(line)
        guard case .frame(let frame)? = decoder.next() else {
            Issue.record("the line does not fit")
            return
        }
        frame.forEachReading { #expect(abs(($0[.current] ?? 0) - 1.5) < 0.05) }
    }

    @Test func askedBoard_answersItsRequestAlone_andNothingWhileItBoots() throws {
        let description = try Self.description("pairs", ["request": .text("R\n")])
        var board = SimulatedBoard(model: .generic, description, greeting: Array("hello\r\n".utf8))
        #expect(board.receive(Array("R\n".utf8), at: .milliseconds(499)).isEmpty)
        #expect(board.nextDue == .milliseconds(500))
        #expect(board.due(at: .milliseconds(500)) == [Array("hello\r\n".utf8)])
        #expect(board.nextDue == nil)
        #expect(board.receive(Array("R\n".utf8), at: .milliseconds(600)).count == 1)
        #expect(board.receive(Array("x\n".utf8), at: .milliseconds(700)).isEmpty)
        #expect(board.due(at: .seconds(9)).isEmpty)

        board.powerCycle()
        #expect(board.receive(Array("R\n".utf8), at: .milliseconds(100)).isEmpty)
        #expect(board.receive(Array("R\n".utf8), at: .milliseconds(500)).count == 2)
    }

    @Test func pushingBoard_greetsOnce_andAgainAfterAReset() {
        var board = SimulatedBoard(model: .generic, .usual)
        #expect(board.nextDue == .milliseconds(500))
        #expect(board.due(at: .milliseconds(499)).isEmpty)
        #expect(board.due(at: .seconds(1)).map { String(decoding: $0.prefix(3), as: UTF8.self) } == ["# r", "V=5"])
        #expect(board.nextDue == .seconds(2))
        #expect(board.due(at: .seconds(2)).count == 1)
        board.powerCycle()
        #expect(board.nextDue == .milliseconds(500))
        #expect(board.due(at: .seconds(1)).count == 2)
        #expect(board.receive(Array("R\n".utf8), at: .seconds(1)).isEmpty)
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func faults_areNoReading(kind: SimulatorFaults.Kind) throws {
        let description = try Self.description("pairs", ["checksum": .text("crc16")])
        var board = SimulatedBoard(model: .generic, description)
        board.faults = SimulatorFaults(kind)
        var decoder = LineDecoder(description)
        for bytes in board.due(at: .seconds(5)) { decoder.append(bytes) }
        while let step = decoder.next() {
            if case .frame = step { Issue.record("\(kind) passes for a reading") }
        }
    }
}
