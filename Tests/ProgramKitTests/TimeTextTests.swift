import Domain
import ProgramKit
import Testing

struct TimeTextTests {
    /// Summer time from the last Sunday of March to that of October, as in Central Europe in 2026.
    private static let berlin = TimeText(now: moment("2026-11-21T13:40:05.250Z")) { time in
        let summer = moment("2026-03-29T01:00:00Z")..<moment("2026-10-25T01:00:00Z")
        return summer.contains(time) ? .seconds(7200) : .seconds(3600)
    }

    private static func moment(_ text: String) -> WallTime {
        WallTime(text) ?? WallTime(millisecondsSince1970: 0)
    }

    @Test(arguments: [
        ("2026-11-21T13:40:05.250Z", "14:40:05"), ("2026-11-20T23:00:00.000Z", "00:00:00"),
        // Yesterday there, although the same day in UTC, and the other way round.
        ("2026-11-20T22:59:59.999Z", "2026-11-20 23:59:59"), ("2026-11-21T23:00:00Z", "2026-11-22 00:00:00"),
        ("2026-07-01T12:00:00Z", "2026-07-01 14:00:00"), ("2026-03-29T00:59:59Z", "2026-03-29 01:59:59"),
        ("2026-03-29T01:00:00Z", "2026-03-29 03:00:00"), ("2026-10-25T00:59:59Z", "2026-10-25 02:59:59"),
        ("2026-10-25T01:00:00Z", "2026-10-25 02:00:00"), ("", ""), ("soon", "soon"),
    ])
    func moment_isLocal_withItsDate_whereThatIsNotToday(_ moment: String, _ text: String) {
        #expect(Self.berlin.text(moment) == text)
    }

    @Test func milliseconds_areShown_whereAskedFor() {
        #expect(Self.berlin.text("2026-11-20T13:40:05.250Z", withMilliseconds: true) == "2026-11-20 14:40:05.250")
        #expect(Self.berlin.timeOfDay("2026-11-20T13:40:05.250Z") == "14:40:05.250")
        #expect(Self.berlin.timeOfDay("–") == "–")
    }

    @Test func sentence_hasItsMomentsInThisForm() {
        #expect(
            Self.berlin.sentence("it is connected since 2026-11-20T13:40:05.250Z, 12 sent, 2026-11-21T13:40:05Z; so")
                == "it is connected since 2026-11-20 14:40:05, 12 sent, 14:40:05; so")
        #expect(Self.berlin.sentence("nothing  at 12:30, 5.1") == "nothing  at 12:30, 5.1")
    }

    @Test func utc_saysSo() {
        let text = TimeText.utc.text("2020-11-20T13:40:05.250Z")

        #expect(text == "2020-11-20 13:40:05Z")
    }

    @Test(arguments: [
        ("2026-11-21", "2026-11-20T23:00:00.000Z"), ("2026-07-01", "2026-06-30T22:00:00.000Z"),
        ("2026-07-01 14:03", "2026-07-01T12:03:00.000Z"), ("2026-07-01T14:03:05", "2026-07-01T12:03:05.000Z"),
        ("14:03", "2026-11-21T13:03:00.000Z"), ("14:03:05.5", "2026-11-21T13:03:05.500Z"),
        ("2026-11-21T13:40:05+02:00", "2026-11-21T11:40:05.000Z"),
        // Just before and after the clocks change; a time that they leave out, and one that comes twice.
        ("2026-03-29 01:59", "2026-03-29T00:59:00.000Z"), ("2026-03-29 03:00", "2026-03-29T01:00:00.000Z"),
        ("2026-03-29 02:30", "2026-03-29T01:30:00.000Z"), ("2026-10-25 02:30", "2026-10-25T01:30:00.000Z"),
        ("2026-10-25 03:00", "2026-10-25T02:00:00.000Z"),
    ])
    func typedText_isAMomentOfThisZone(_ text: String, _ moment: String) {
        #expect(Self.berlin.moment(text)?.description == moment)
    }

    @Test(arguments: ["", "yesterday", "2026-13-01", "25:00", "2h", "14", "2026-11-21 14:03 UTC"])
    func anythingElse_isNoMoment(_ text: String) {
        #expect(Self.berlin.moment(text) == nil)
    }
}
