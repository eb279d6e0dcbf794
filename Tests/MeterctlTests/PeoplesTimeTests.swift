import Domain
import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

extension TimeText {
    /// Central European winter time, at ten o'clock on 2026-11-22.
    static let berlin = TimeText(now: moment("2026-11-22T09:00:00Z")) { _ in .seconds(3600) }

    private static func moment(_ text: String) -> WallTime {
        WallTime(text) ?? WallTime(millisecondsSince1970: 0)
    }
}

/// What the built program prints with a time zone in its environment: the daemon tells UTC, people read their own.
@Suite(.enabled(if: Program.path != nil, "meterctl was not built: make build"), .timeLimit(.minutes(10)))
struct PeoplesTimeTests {
    /// A rule instead of a name, so that the machine needs no zone database.
    private static let centralEurope = "CET-1CEST,M3.5.0,M10.5.0/3"

    private func list(_ arguments: [String] = [], zone: String) throws -> [Substring] {
        let bodies = ["2020-03-29T00:59:59.000Z", "2020-03-29T01:00:00.000Z", "2020-10-25T01:00:00.000Z"].map { start in
            RecordingBody(
                id: "1a2b", meter: "m", host_id: "h", mine: true, state: "ended", trigger: "hand", started: start,
                until: start)
        }
        let daemon = try OneAnswerDaemon(
            answer: try JSONOutput.line(RecordingsBody(recordings: bodies)), leaves: false)
        defer { daemon.leave() }
        let run = try Program.run(
            ["record", "list", "--socket", daemon.path] + arguments, environment: ["TZ": zone])
        #expect(run.status == 0, "\(run.talk)")
        return run.output.split(separator: "\n")
    }

    @Test(arguments: [
        (centralEurope, ["2020-03-29 01:59:59 ", "2020-03-29 03:00:00 ", "2020-10-25 02:00:00 "]),
        ("UTC", ["2020-03-29 00:59:59 ", "2020-03-29 01:00:00 ", "2020-10-25 01:00:00 "]),
        ("NST3:30", ["2020-03-28 21:29:59 ", "2020-03-28 21:30:00 ", "2020-10-24 21:30:00 "]),
    ])
    func times_areLocal_onBothSidesOfAChangeOfTheClocks(_ zone: String, _ times: [String]) throws {
        let rows = try list(zone: zone).dropFirst()

        #expect(rows.count == times.count)
        for (row, time) in zip(rows, times) { #expect(row.contains("  \(time)"), "\(row)") }
    }

    @Test func times_areUTC_whereAskedFor_andInJSON() throws {
        let rows = try list(["--utc"], zone: Self.centralEurope)
        let json = try list(["--json"], zone: Self.centralEurope)

        #expect(rows[1].contains("  2020-03-29 00:59:59Z  "))
        #expect(json.contains { $0.contains(#""started" : "2020-03-29T00:59:59.000Z""#) })
    }

    @Test(arguments: [
        (Int64(0), "0 s"), (999, "0 s"), (23_000, "23 s"), (103_000, "1 min 43 s"), (3_600_000, "1 h"),
        (3_723_000, "1 h 2 min 3 s"), (86_400_000, "1 d"), (93_784_000, "1 d 2 h 3 min"), (-5, "0 s"),
    ])
    func span_isInWords(_ milliseconds: Int64, _ text: String) {
        #expect(Formatting.span(milliseconds: milliseconds) == text)
    }
}
