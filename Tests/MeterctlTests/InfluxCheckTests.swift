import GatewayAPI
import Testing

@testable import meterctl

/// What `meterctl doctor` makes of the time series database.
struct InfluxCheckTests {
    private static let url = "https://influx.lan:8086"
    private static let time = "2026-11-21T13:40:05.250Z"

    private func findings(_ change: (inout InfluxStatus) -> Void) -> [Finding] {
        var influx = InfluxStatus(url: Self.url)
        (influx.taken, influx.sent) = (Self.time, 1200)
        change(&influx)
        return Checkup.influx(influx)
    }

    @Test func hostWithoutOne_isToldNothing() {
        #expect(Checkup.influx(InfluxStatus()).isEmpty)
    }

    @Test func databaseThatTakesAll_isWell() {
        #expect(
            findings { _ in } == [Finding("influx", .ok, "\(Self.url) took 1200 points, the last at \(Self.time)")])
        #expect(
            findings { $0.behind = true }.map(\.message) == [
                "\(Self.url) took 1200 points, the last at \(Self.time), and more is on its way"
            ])
    }

    @Test func databaseThatTakesNothing_isAProblem_withItsCause_andWhatToDo() {
        let all = findings { ($0.error, $0.next) = ("it answered 401", "correct the token") }

        #expect(
            all == [
                Finding(
                    "influx", .problem, "nothing is sent to \(Self.url): it answered 401",
                    next: "correct the token; meterd keeps its readings and sends them later")
            ])
    }

    @Test func databaseThatWasSentNothing_isNoted() {
        #expect(
            findings { ($0.taken, $0.sent) = (nil, 0) } == [
                Finding("influx", .note, "\(Self.url) got nothing yet", next: "run this again in a moment")
            ])
    }

    @Test func pointsThatAreNotWanted_areNoted_withWhatItSaid() {
        let last = findings { ($0.rejected, $0.rejection) = (7, "field type conflict") }.last

        #expect(last?.verdict == .note)
        #expect(last?.message == "7 points were rejected: field type conflict")
    }
}
