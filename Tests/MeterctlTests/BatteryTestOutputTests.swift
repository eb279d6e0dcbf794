import Domain
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct BatteryTestOutputTests {
    private func test(_ state: String, _ end: String? = nil, gaps: Int = 0) -> RecordingBody {
        var recording = RecordingBody(
            id: "1a2b3c4d", meter: "bench", host_id: "h", mine: true, state: state, trigger: "hand",
            started: "2026-11-21T10:00:00.000Z", until: "2026-11-21T11:00:00.000Z")
        var test = BatteryTestBody(until: "voltage < 3.0V for 10s", notify: ["phone"], armed: false)
        (test.quantity, test.start_above_A) = ("voltage_V", 0.1)
        (recording.end, recording.gap_count, recording.charge_mAh) = (end, gaps, -2345)
        if end == "cutoff" { test.value = 2.998 }
        recording.test = test
        return recording
    }

    private func facts(_ recording: RecordingBody) -> String {
        BatteryTestText.facts(of: recording).map { "\($0.field): \($0.value)" }.joined(separator: "\n")
    }

    @Test(arguments: [
        ("waiting", nil, 0, "waits"), ("running", nil, 0, "goes on"), ("ended", "cutoff", 0, "done"),
        ("ended", "cutoff", 2, "done, with gaps"), ("ended", "gap", 0, "meter lost"), ("ended", "hand", 0, "stopped"),
    ])
    func state_isInFewWords(state: String, end: String?, gaps: Int, words: String) {
        #expect(BatteryTestText.state(of: test(state, end, gaps: gaps)) == words)
    }

    @Test func result_saysWhatEndedIt_andWhatIsNotInIt() {
        #expect(
            facts(test("ended", "cutoff")) == """
                until: voltage < 3.0V for 10s
                cut-off: reached with 2.998 V
                result: the cut-off was reached
                tells: phone
                """)
        #expect(facts(test("ended", "gap", gaps: 1)).contains("need not be the battery's end; what flowed in its gaps"))
        #expect(facts(test("ended", "hand")).contains("ended by hand, before its cut-off"))
        #expect(facts(test("running")).contains("counts once a value on its other side was seen"))
        #expect(facts(test("waiting")).contains("begins: when 0.100 A flow"))
        #expect(
            BatteryTestText.facts(
                of: RecordingBody(
                    id: "i", meter: "m", host_id: "h", mine: true, state: "ended", trigger: "hand", started: "s",
                    until: "u"
                )
            ).isEmpty)
    }

    /// - Parameter state: of the load.
    private func driving(_ state: String, _ end: String? = nil, limit: Int64? = nil, loss: String = "keep")
        -> RecordingBody
    {
        var recording = test(end == nil ? "running" : "ended", end)
        recording.test?.load = LoadBody(
            current_A: 1.5, cutoff_V: 3, limit_ms: limit, on_link_loss: loss, state: state)
        recording.test?.start_above_A = nil
        return recording
    }

    @Test func load_saysHowItStands() {
        #expect(
            facts(driving("drawing", limit: 28_800_000)).contains(
                "draws: 1.500 A down to 3.000 V, for 8 h at most\nload: is on"))
        #expect(facts(driving("preparing")).contains("draws: 1.500 A down to 3.000 V\nload: is being set"))
        #expect(
            facts(driving("away")).contains(
                "goes on by itself, down to its own cut-off; the test goes on once it is heard again"))
        #expect(
            facts(driving("away", loss: "off")).contains(
                "down to its own cut-off; it is switched off once it is heard again"))
        #expect(facts(driving("ending", "gap")).contains("load: is to be switched off, and may still be on"))
        #expect(facts(driving("over", "cutoff")).contains("load: is off"))
        #expect(BatteryTestText.state(of: driving("over", "load")) == "load not on")
        var troubled = driving("ending", "hand")
        troubled.test?.load?.problem = "the load could not be switched off: no answer"
        #expect(facts(troubled).contains("problem: the load could not be switched off: no answer"))
    }

    @Test func start_saysWhatIsDrawn_andStopWhetherItIsOff() throws {
        #expect(
            BatteryTestText.begun(driving("drawing"), on: "dl24")
                == "dl24 draws 1.500 A down to 3.000 V, and then switches itself off; meterctl battery-test show 1a2b3c4d"
        )
        var load = try #require(driving("over", "hand").test?.load)
        #expect(BatteryTestText.stopped(load, of: "dl24") == "the load dl24 is off")
        load.state = "ending"
        #expect(BatteryTestText.stopped(load, of: "dl24").contains("may still be on, down to its own cut-off"))
        load.problem = "the load could not be switched off: no answer"
        #expect(BatteryTestText.stopped(load, of: "dl24") == "dl24: the load could not be switched off: no answer")
    }

    @Test func list_showsTheCapacityBySize() {
        let lines = BatteryTestText.table([test("ended", "cutoff")], .berlin, named: [:]).lines(fitting: nil)

        #expect(lines.last?.contains("2345 mAh") == true && lines.last?.contains("-2345") == false)
    }

    @Test(arguments: [
        [
            "battery-test", "start", "bench", "--until", "current < 50mA for 30s", "--start-above", "100mA", "--notify",
            "phone", "--notify", "lamp", "--name", "cell",
        ],
        ["battery-test", "stop", "bench"], ["battery-test", "list", "--json"], ["battery-test", "show", "cell"],
    ])
    func command_isTaken(arguments: [String]) async throws { _ = try await Meterctl.command(for: arguments) }
}
