import Domain
import GatewayAPI
import LinuxIO
import ProgramKit
import Testing

@testable import meterctl

struct AssertTests {
    /// Ten seconds of 5 V at a current, a reading each half second.
    private static func report(
        _ texts: [String], current: Double = 1, program: ForegroundProgram.End? = nil
    ) throws -> LimitReport {
        let limits = try texts.map { try LimitParser.limit($0) }
        var live = LiveStretch(for: limits)
        func take(_ index: Int64) {
            var values = Reading()
            (values[.voltage], values[.current]) = (5, current)
            let time = WallTime(millisecondsSince1970: 500 * index)
            live.take(
                ReadingLine(time: time.description, values: ReadingBody(values)),
                at: .origin + .milliseconds(500 * index))
        }
        // Before it begins nothing is judged.
        let beganEarly = live.begin(at: .origin)
        take(0)
        let began = live.begin(at: .origin + .milliseconds(400))
        #expect(!beganEarly && began)
        for index in 1...20 { take(Int64(index)) }
        live.finish(at: .origin + .milliseconds(10_400))
        take(21)
        return LimitReport(
            "lamp <1>", live.readings, limits, allowedGaps: 0, program: program.map { (["./run", "a b"], $0) })
    }

    @Test(arguments: [
        (["max(current) < 2 A"], nil, ProgramKit.ExitStatus.ok), (["max(current) < 2 A"], .exited(0), .ok),
        (["max(current) < 2 A", "p99(current) < 2 A"], nil, .undecided),
        (["max(current) < 2 A", "p99(current) < 2 A"], ForegroundProgram.End.exited(3), .programFailed),
        (["max(current) < 2 A"], .killedBySignal(9), .programFailed),
        (["p99(current) < 2 A", "max(current) < 1 A"], .exited(3), .limitBroken),
    ])
    func status_isThatOfTheWorst(limits: [String], program: ForegroundProgram.End?, status: ProgramKit.ExitStatus)
        throws
    {
        #expect(try Self.report(limits, program: program).status == status)
    }

    @Test func people_seeEachLimit_inItsOwnUnit() throws {
        let report = try Self.report([
            "max(current) < 15 mA", "mean(voltage) > 4 V", "p99(current) < 2 A", "duration < 60 s",
        ])

        #expect(
            report.table.lines == [
                "LIMIT                 MEASURED  VERDICT",
                "max(current) < 15 mA  1000 mA   broken",
                "mean(voltage) > 4 V   5.000 V   kept",
                "p99(current) < 2 A    –         undecided: 20 readings are too few: it takes 100",
                "duration < 60 s       10.00 s   kept",
            ])
        #expect(report.summary == "20 readings in 10 s")
    }

    @Test func programs_getValuesInBaseUnits_andUnknownAsNull() throws {
        let report = try Self.report(["max(current) < 15 mA", "p99(current) < 2 A"], program: .killedBySignal(9))
        let text = try JSONOutput.line(report.body)

        #expect(
            text == #"{"duration_ms":10000,"gap_ms":0,"limits":["#
                + #"{"bound":0.015,"limit":"max(current) < 15 mA","reason":null,"unit":"A","value":1,"verdict":"broken"},"#
                + #"{"bound":2,"limit":"p99(current) < 2 A","reason":"20 readings are too few: it takes 100","#
                + #""unit":"A","value":null,"verdict":"undecided"}],"lost_readings":0,"#
                + #""program":{"command":["./run","a b"],"signal":9,"status":null},"readings":20,"subject":"lamp <1>","#
                + #""verdict":"broken"}"#)
    }

    @Test func servers_getATestCaseForEachLimit() throws {
        let report = try Self.report(
            ["max(current) < 15 mA", "mean(voltage) > 4 V", "p99(current) < 2 A"], program: .exited(3))

        #expect(
            report.junit == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites>
                  <testsuite name="meterctl assert" tests="4" failures="2" errors="1" time="10.000">
                    <testcase classname="lamp &lt;1&gt;" name="max(current) &lt; 15 mA" time="10.000"><failure message="measured: 1000 mA"/></testcase>
                    <testcase classname="lamp &lt;1&gt;" name="mean(voltage) &gt; 4 V" time="10.000"/>
                    <testcase classname="lamp &lt;1&gt;" name="p99(current) &lt; 2 A" time="10.000"><error message="undecided: 20 readings are too few: it takes 100"/></testcase>
                    <testcase classname="lamp &lt;1&gt;" name="./run a b" time="10.000"><failure message="ended with 3"/></testcase>
                  </testsuite>
                </testsuites>
                """)
    }

    /// What was measured before the end may come after it; a calendar that is set back shortens nothing.
    @Test func stretch_endsByItsOwnClock() throws {
        var live = LiveStretch(for: [])
        func take(_ time: Int64, at now: Int64) {
            let text = WallTime(millisecondsSince1970: time).description
            live.take(ReadingLine(time: text, values: ReadingBody(Reading())), at: .origin + .milliseconds(now))
        }
        take(10_000, at: 0)
        _ = live.begin(at: .origin + .milliseconds(100))
        // Taken before the begin, and on its way for long.
        take(10_050, at: 200)
        for step in 1...4 { take(10_000 + Int64(step) * 500, at: Int64(step) * 500) }
        live.finish(at: .origin + .milliseconds(2600))
        let wasComplete = live.isComplete
        take(12_500, at: 2700)
        take(13_000, at: 3200)

        #expect(!wasComplete && live.isComplete)
        #expect([live.readings.count, Int(live.readings.length), live.readings.lost] == [5, 2500, 0])
        take(9000, at: 3300)
        live.finish(at: .origin + .milliseconds(3600))
        #expect(live.readings.length == 3500)
    }

    @Test func program_isWhatFollowsTheDashes() async throws {
        func command(_ arguments: String...) async throws -> Assert {
            try #require(try await Meterctl.command(for: ["assert"] + arguments) as? Assert)
        }
        let found = try await command("lamp", "count > 1", "--allow-gaps", "2%", "--", "./run", "--for", "--", "x")
        #expect(found.words == ["lamp", "count > 1"])
        #expect(found.command.program == ["./run", "--for", "--", "x"])
        #expect(found.allowGaps?.share == 0.02)
        for wrong in [
            ["lamp", "count > 1"], ["lamp", "--for", "1s"],
            ["lamp", "count > 1", "--for", "1s", "--junit", "-", "--json"], ["--recording", "a"],
            ["lamp", "count > 1", "--for", "1s", "--from", "2h"],
            ["lamp", "count > 1", "--for", "1s", "--allow-gaps", "2"],
        ] {
            await #expect(throws: (any Error).self, "\(wrong)") { try await Meterctl.command(for: ["assert"] + wrong) }
        }
    }

    @Test func program_runsAsFromAShell() async throws {
        func end(_ command: String...) async throws -> ForegroundProgram.End {
            try await ForegroundProgram(command, toErrors: true).end()
        }
        #expect(try await end("sh", "-c", "exit 3") == .exited(3))
        #expect(try await end("sh", "-c", "kill -KILL $$") == .killedBySignal(9))
        let program = try ForegroundProgram(["sleep", "60"], toErrors: true)
        program.send(15)
        #expect(try await program.end() == .killedBySignal(15))
        await #expect(throws: Errno(2)) { try await end("./no such program") }
    }
}
