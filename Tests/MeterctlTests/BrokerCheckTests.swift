import GatewayAPI
import Testing

@testable import meterctl

/// What `meterctl doctor` makes of the broker.
struct BrokerCheckTests {
    private static let url = "mqtts://broker.lan:8883"
    private static let since = "2026-11-21T13:40:05.250Z"

    private func findings(_ change: (inout BrokerStatus) -> Void) -> [Finding] {
        var broker = BrokerStatus(url: Self.url)
        (broker.connected, broker.since, broker.published) = (true, Self.since, 1200)
        change(&broker)
        return Checkup.broker(broker)
    }

    @Test func hostWithoutABroker_isToldNothing() {
        #expect(Checkup.broker(BrokerStatus()).isEmpty)
    }

    @Test func brokerThatIsThere_isWell() {
        #expect(
            findings { _ in }.map(\.message) == [
                "\(Self.url) is connected since \(Self.since), 1200 messages published"
            ])
        #expect(findings { _ in }.allSatisfy { $0.verdict == .ok && $0.next == nil })
        #expect(
            findings { $0.queued = 3 }.map(\.message) == [
                "\(Self.url) is connected since \(Self.since), 1200 messages published, 3 wait"
            ])
    }

    @Test func brokerThatIsAway_isAProblem_withItsCause_andWhatToDo() {
        let all = findings {
            ($0.connected, $0.queued, $0.backlog) = (false, 40, 40)
            ($0.error, $0.next) = ("the broker refuses us: Not authorized", "correct it")
        }

        #expect(
            all == [
                Finding(
                    "broker", .problem,
                    "\(Self.url) is not connected since \(Self.since): the broker refuses us: Not authorized",
                    next: "correct it"),
                Finding("broker", .ok, "40 readings wait for it, none is lost"),
            ])
    }

    @Test func brokerThatWasNotReachedYet_isNoted() {
        #expect(
            findings { $0.connected = false } == [
                Finding("broker", .note, "\(Self.url) is not connected yet", next: "run this again in a moment")
            ])
    }

    @Test func lostMessages_areNoted_whetherItIsBackOrNot() {
        for isConnected in [true, false] {
            let last = findings { ($0.connected, $0.error, $0.dropped, $0.backlog) = (isConnected, "gone", 12, 10_000) }
                .last
            #expect(last?.verdict == .note)
            #expect(last?.message == "12 messages were dropped since meterd started, 10000 wait")
        }
    }

    /// Connected, and all the same nothing arrives: its access rules.
    @Test func brokerThatTakesNothing_orTellsNothing_isAProblem() {
        let all = findings { ($0.refused_topics, $0.hears_requests) = (2, false) }

        #expect(all.map(\.verdict) == [.ok, .problem, .problem])
        #expect(all[1].message == "it refuses messages on 2 topics")
        #expect(all[2].message.contains("hears no request"))
        #expect(all.dropFirst().allSatisfy { $0.next != nil })
    }
}
