import Cloud
import CloudAPI
import CloudClient
import Domain
import Foundation
import Gateway
import MeterTestKit
import Testing

/// What crosses the network of a meter's log, and back (Docs/Relay.md#the-meters-log).
@Suite(.timeLimit(.minutes(10)))
struct LogPartTests {
    private let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))

    private func line(_ what: String) -> LogLine {
        var line = LogLine(
            .held, what, age: .seconds(90), lastAge: .seconds(30), time: WallTime(millisecondsSince1970: 5), count: 3,
            detail: "given back")
        (line.by, line.byID, line.adapter) = ("beta", "id", "00:11:22:33:44:55")
        (line.token, line.lastToken) = (7, 9)
        return line
    }

    private func sent(_ part: LogPart) throws -> LogPart {
        let body = try JSONDecoder().decode(RelayLogPart.self, from: JSONEncoder().encode(RelayLogPart(part)))
        return LogPart(lines: body.lines.map(\.line), isCut: body.cut ?? false, isShared: body.shared ?? true)
    }

    @Test func part_comesBackWhole() throws {
        let bare = LogLine(.state, "offline", age: .zero, lastAge: nil, time: WallTime(millisecondsSince1970: -1))
        let parts = [
            LogPart(lines: [line("ble"), bare], isCut: true), LogPart(lines: []), LogPart(lines: [], isShared: false),
        ]
        for part in parts { #expect(try sent(part) == part) }
    }

    /// The cloud passes on what hosts of any version say: nothing of it may be more than odd.
    @Test func absurdLines_areShownAsTheyCanBe() {
        var absurd = RelayLogLine(kind: "of-tomorrow", age: .min, lastAge: .min, time: .min, what: "")
        absurd.count = .min
        absurd.token = .max
        let line = absurd.line
        #expect(line.age == .zero && line.lastAge == .zero && line.count == 1)
        #expect(
            RelayLogLine(kind: "held", age: .max, lastAge: nil, time: .max, what: "x").line.age.milliseconds == .max)
        #expect(
            LogParts(
                RelayLogAnswer(
                    parts: [.init(hostID: "no id", hostName: "n", lines: [])], silent: ["beta"])
            ) == LogParts(silent: ["beta"]))
    }

    @Test func question_isRead_orIgnored() {
        var body = EventBody.LogQuestion(
            requestID: RequestID(high: 1, low: 2).description, meter: "\(meter)", within: -5)
        body.copy = "copy"
        #expect(
            CloudEvent(EventBody(log: body))
                == .log(
                    LogQuestion(id: RequestID(high: 1, low: 2), meter: meter, within: .zero, copy: "copy")))
        body.requestID = "one"
        #expect(CloudEvent(EventBody(log: body)) == nil)
    }

    /// The limits of a host are those of the cloud, or less.
    @Test func whatAHostSends_isTakenByTheCloud() {
        #expect(RelayTiming.logLinesMax <= CloudLimits.logLinesPerPart)
        #expect(RelayTiming.logBytesMax <= CloudLimits.logPartBytes)
        #expect(RelayTiming.logLineBytes >= CloudLimits.logLineBytes)
        #expect(LogFold.textBytesMax <= CloudLimits.logTextBytes)
    }

    @Test func hostThatAsks_hearsWhatTheOtherHas() async throws {
        try await withCloud { cloud in
            let (asker, other) = (
                try await cloud.client("a", host: HostID(high: 1, low: 1)),
                try await cloud.client("b", host: HostID(high: 1, low: 2))
            )
            let part = LogPart(lines: [line("ble")], isCut: true)
            try await closing(asker) {
                try await closing(other) {
                    let events = other.events()
                    async let answering: Void = {
                        for try await event in events {
                            guard case .log(let question) = event else { continue }
                            return try await other.answer(question, with: part)
                        }
                    }()
                    try await eventually("the other host listens") { cloud.service.listenerCount == 1 }
                    let parts = try await asker.parts(of: meter, within: .seconds(3600))
                    try await answering
                    #expect(
                        parts
                            == LogParts(parts: [
                                .init(host: HostID(high: 1, low: 2), hostName: "b", part: part)
                            ]))
                }
            }
        }
    }
}
