import Domain
import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct RecordingWordsTests {
    static func recording(name: String? = "phone") -> RecordingBody {
        var body = RecordingBody(
            id: "1a2b3c4d", meter: "02:00:00:00:25:0C", host_id: "11111111-1111-4111-8111-111111111111", mine: true,
            state: "ended", trigger: "threshold", started: "2026-11-21T13:40:05.250Z",
            until: "2026-11-21T14:42:08.250Z")
        (body.name, body.host, body.end) = (name, "bench pi", "threshold")
        (body.duration_ms, body.recorded_ms, body.readings) = (3_723_000, 3_700_000, 7400)
        (body.charge_mAh, body.energy_Wh, body.meter_charge_mAh) = (1234.4, 6.2, 1236)
        body.current_A = .init(min: 0, max: 2.1, mean: 1.2)
        (body.gap_ms, body.gap_count) = (23_000, 1)
        body.gaps = [.init(start: "2026-11-21T14:00:00.000Z", duration_ms: 23_000, cause: "link")]
        (body.marks, body.overlaps) = (["gaps", "counter-reset"], ["9f8e7d6c"])
        return body
    }

    @Test func list_isATable_withMarks() {
        #expect(
            RecordingText.table([Self.recording()], .berlin, named: [:]).lines == [
                "ID        METER              NAME   HOST                  STATE  STARTED              DURATION       CHARGE    ENERGY    MARKS",
                "1a2b3c4d  02:00:00:00:25:0C  phone  bench pi (this host)  ended  2026-11-21 14:40:05  1 h 2 min 3 s  1234 mAh  6.200 Wh  gaps, counter-reset, overlap",
            ])
    }

    @Test func list_callsAMeter_asPeopleDo() {
        let lines = RecordingText.table([Self.recording()], .berlin, named: ["02:00:00:00:25:0C": "bench"]).lines

        #expect(lines.last?.hasPrefix("1a2b3c4d  bench  phone  ") == true)
    }

    /// Of ten groups those in which nothing is counted are left out.
    @Test func groups_areTold_whereSomethingIsCounted() {
        var body = Self.recording()
        func told(_ charges: [Double]) -> TelemetryBody {
            var told = TelemetryBody()
            told.groups = charges.enumerated().map { .init(index: $0, charge_mAh: $1, energy_Wh: $1 / 100) }
            return told
        }
        (body.told_at_start, body.told_at_end) = (told([1, 0, 0, 7]), told([8, 0, 2, 0]))

        let groups = RecordingText.table(body, .berlin).lines.filter { $0.hasPrefix("group") }

        #expect(groups.count == 3)
        #expect(groups.first?.contains("1 mAh, 0.010 Wh, at the end 8 mAh, 0.080 Wh") == true)
        #expect(!groups.contains { $0.hasPrefix("group 1") })
    }

    @Test func recording_isTold_withItsGapsAndWhatToKnow() {
        let lines = RecordingText.table(Self.recording(), .berlin).lines

        #expect(lines.contains("state        ended, begun by its current, ended by its current"))
        #expect(lines.contains("duration     1 h 2 min 3 s"))
        #expect(lines.contains("charge       1234 mAh (the meter's own counter: 1236 mAh)"))
        #expect(lines.contains("energy       6.200 Wh"))
        #expect(lines.contains("current      1.200 A on average, 0.000 A to 2.100 A"))
        #expect(lines.contains("voltage      –"))
        #expect(lines.contains("gaps         1, 23 s in all, which is not added up"))
        #expect(lines.contains("             2026-11-21 15:00:00  23 s  the link was lost"))
        #expect(lines.contains("mark         the meter's own counter began anew"))
        #expect(lines.contains("overlaps     9f8e7d6c of the same meter"))
    }

    @Test func readingsOfAnotherHost_areThere() throws {
        var body = Self.recording()
        try RecordingText.requireMine(body)
        body.mine = false

        #expect(throws: (any Error).self) { try RecordingText.requireMine(body) }
    }
}

struct RecordingPlotTests {
    private func series(_ currents: [Double?], every step: Int64 = 1000) -> SeriesBody {
        SeriesBody(
            meter: "m", start: "2026-11-21T13:40:05.250Z", width_ms: step, tier: "raw", gap_ms: 10_000,
            t_ms: currents.indices.map { Int64($0) * step },
            series: [
                "current_A": .init(min: currents.map { $0.map { $0 - 0.1 } }, max: currents, mean: currents),
                "voltage_V": .init(
                    min: currents.map { $0 == nil ? nil : 5 }, max: currents.map { $0 == nil ? nil : 5 },
                    mean: currents.map { $0 == nil ? nil : 5 }),
            ])
    }

    /// Elements by name. Fails for a text that is not well-formed: tags that do not match, a bare & or <, a control
    /// character. (Foundation's own parser needs a library that not every machine has.)
    private func elements(of text: String) throws -> [String: Int] {
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        let entities = try Regex("&(amp|lt|gt|quot|apos);")
        #expect(!text.replacing(entities, with: "").contains("&"))
        var counts: [String: Int] = [:]
        var open: [String] = []
        let tag = #/<(?<end>/?)(?<name>[a-z]+)(?<rest>(?: [a-zA-Z0-9:-]+="[^"<>]*")*)(?<empty>/?)>/#
        for match in text.matches(of: tag) {
            let name = String(match.output.name)
            if match.output.end == "/" {
                #expect(open.popLast() == name)
            } else {
                counts[name, default: 0] += 1
                if match.output.empty.isEmpty { open.append(name) }
            }
        }
        #expect(open.isEmpty)
        let rest = text.replacing(tag, with: "").replacing(#"<?xml version="1.0" encoding="UTF-8"?>"#, with: "")
        #expect(!rest.contains("<") && !rest.contains(">"))
        return counts
    }

    private func svg(_ series: SeriesBody, name: String? = "phone") throws -> String {
        try #require(RecordingPlot(RecordingWordsTests.recording(name: name), series)).svg
    }

    @Test func plot_isXML_withALineAndABandForEachQuantity() throws {
        let text = try svg(series([1, 2, 1.5, 0.5]))
        let found = try elements(of: text)

        #expect(found["svg"] == 1)
        #expect(found["polyline"] == 2)
        #expect(found["polygon"] == 2)
        #expect(text.contains(">Current (A)<"))
        #expect(text.contains(">Voltage (V)<"))
        #expect(!text.contains(">Power (W)<"), "it has none")
        #expect(text.contains("time since the start (min)"))
        #expect(!text.contains("nan") && !text.contains("inf"))
    }

    @Test func line_breaks_wherePointsHaveNoValue() throws {
        #expect(try elements(of: try svg(series([1, 2, nil, 1.5, 0.5])))["polyline"] == 4)
    }

    /// The recording of an hour has a gap of 23 s, 1194.75 s after its start: 5 pixels, 260 behind the left edge.
    @Test func gap_isGrey_inEachPanel_whereTheRecordingMarksIt() throws {
        let text = try svg(series([1, 2, 1.5, 0.5]))

        #expect(text.components(separatedBy: #"class="gap" x="329.94""#).count - 1 == 2)
        #expect(text.contains(#"x="329.94" y="64" width="5""#))
        #expect(text.contains("<title>gap: the link was lost</title>"))
        #expect(text.contains(", 1 gap of 23 s<"))
    }

    @Test func shortGap_isSeen_andOneThatMakesNoSense_isNot() throws {
        var recording = RecordingWordsTests.recording()
        recording.gaps[0].duration_ms = 1
        let short = try #require(RecordingPlot(recording, series([1, 2]))).svg
        recording.gaps[0].start = "never"
        let none = try #require(RecordingPlot(recording, series([1, 2]))).svg

        #expect(short.contains(#"class="gap" x="329.94" y="64" width="1""#))
        #expect(!none.contains("class=\"gap\""))
    }

    @Test(arguments: ["<script>alert(\"1\")</script>", "a & b's", "]]>", "\u{1}\u{8}\t", "🔋 Akku"])
    func text_isEscaped(_ name: String) throws {
        let text = try svg(series([1, 2]), name: name)

        #expect(try elements(of: text)["script"] == nil)
    }

    @Test func singlePoint_isADot() throws {
        #expect(try elements(of: try svg(series([1])))["circle"] == 2)
    }

    @Test func nothing_isNoPlot() {
        var empty = series([])
        #expect(RecordingPlot(RecordingWordsTests.recording(), empty)?.svg == nil)
        empty.t_ms = [0]
        empty.series = [:]
        #expect(RecordingPlot(RecordingWordsTests.recording(), empty)?.svg == nil)
    }

    @Test(arguments: [Int64(10), 1000, 60_000, 3_600_000, 86_400_000, 864_000_000])
    func axis_hasAFewTicks_atAnyLength(_ step: Int64) throws {
        let axis = PlotAxis(lengthInSeconds: Double(step) * 37 / 1000)

        #expect((2...11).contains(axis.ticks.count))
        #expect(axis.ticks.allSatisfy { $0 <= axis.lengthInSeconds })
    }

    @Test(arguments: [
        (0.0, 0.0), (5, 5), (-1, 1), (0, 1e-6), (0, 1e9), (4.98, 5.02), (-20, -19.5), (.nan, 1), (0, .infinity),
    ])
    func scale_holdsItsValues_withAFewTicks(_ low: Double, _ high: Double) {
        let scale = PlotScale(from: low, to: high)

        #expect(scale.low < scale.high)
        #expect((2...21).contains(scale.ticks.count))
        if low.isFinite, high.isFinite { #expect(scale.low <= low + 1e-9 && scale.high >= high - 1e-9) }
        #expect(Swift.Set(scale.ticks.map(scale.label)).count == scale.ticks.count, "\(scale.ticks.map(scale.label))")
    }
}
