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

    @Test func program_isWhatFollowsTheDashes() async throws {
        func command(_ arguments: String...) async throws -> Assert {
            try #require(try await Meterctl.command(for: ["assert"] + arguments) as? Assert)
        }
        let found = try await command("lamp", "count > 1", "--allow-gaps", "2%", "--", "./run", "--for", "--", "x")
        #expect(found.words == ["lamp", "count > 1"])
        #expect(found.program == ["./run", "--for", "--", "x"])
        #expect(found.allowGaps?.share == 0.02)
        for wrong in [
            ["lamp", "count > 1"], ["lamp", "--for", "1s"], ["--recording", "a"],
            ["lamp", "count > 1", "--for", "1s", "--from", "2h"],
            ["lamp", "count > 1", "--for", "1s", "--allow-gaps", "2"],
        ] {
            await #expect(throws: (any Error).self, "\(wrong)") { try await Meterctl.command(for: ["assert"] + wrong) }
        }
    }

    @Test func program_runsAsFromAShell() async throws {
        #expect(try await ForegroundProgram.run(["sh", "-c", "exit 3"], toErrors: true) == .exited(3))
        #expect(try await ForegroundProgram.run(["sh", "-c", "kill -TERM $$"], toErrors: true) == .killedBySignal(15))
        await #expect(throws: Errno(2)) { try await ForegroundProgram.run(["./no such program"], toErrors: true) }
    }
}
