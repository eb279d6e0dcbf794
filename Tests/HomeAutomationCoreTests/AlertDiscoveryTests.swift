import Domain
import Testing

struct AlertDiscoveryTests {
    private func alert(_ number: Int64 = 7, isRaised: Bool = false) -> BridgedAlert {
        var alert = BridgedAlert(
            number: number, meter: .mac(MACAddress(bits: 0x0200_0000_250C)), condition: "current < 50mA for 2m")
        (alert.name, alert.isRaised) = ("charged", isRaised)
        return alert
    }

    private func machine() -> BridgeMachine {
        BridgeMachine(
            BridgeMachine.Settings(
                topics: BrokerTopics(host: "pi", id: HostID(high: 0x1111_1111_1111_4111, low: 1)), version: "1"))
    }

    private func published(_ actions: [BridgeMachine.Action]) -> [BrokerMessage] {
        actions.compactMap { if case .publish(_, let message) = $0 { message } else { nil } }
            .filter { $0.topic.contains("alert") }
    }

    private func opened(_ machine: inout BridgeMachine) {
        _ = machine.start(at: .origin)
        _ = machine.linkOpened(at: .origin)
    }

    @Test func rule_isABinarySensorOfItsMeter() throws {
        var machine = machine()
        opened(&machine)

        let messages = published(machine.observed([], alerts: [alert()], at: .origin, random: 1))

        #expect(
            messages.map(\.topic) == [
                "homeassistant/binary_sensor/pi-11111111_alert_7/config",
                "metergateway/bridge/pi-11111111/alert/7",
            ])
        let config = try #require(messages.first?.text)
        #expect(config.contains(#""name":"charged""#))
        #expect(config.contains(#""device":{"identifiers":["metergateway_02000000250c"]}"#))
        #expect(config.contains(#""state_topic":"metergateway/bridge/pi-11111111/alert/7""#))
        #expect(messages.last?.text.hasPrefix(#"{"state":"OFF","name":"charged""#) == true)
        #expect(messages.map(\.isRetained) == [true, true])
    }

    @Test func change_isPublished_andNothingElse() {
        var machine = machine()
        opened(&machine)
        _ = machine.observed([], alerts: [alert()], at: .origin, random: 1)

        #expect(published(machine.observed([], alerts: [alert()], at: .origin, random: 1)).isEmpty)
        let messages = published(machine.observed([], alerts: [alert(isRaised: true)], at: .origin, random: 1))

        #expect(messages.map(\.topic) == ["metergateway/bridge/pi-11111111/alert/7"])
        #expect(messages.first?.text.hasPrefix(#"{"state":"ON""#) == true)
    }

    @Test func ruleThatIsGone_isTakenAway() {
        var machine = machine()
        opened(&machine)
        _ = machine.observed([], alerts: [alert()], at: .origin, random: 1)

        let messages = published(machine.observed([], alerts: [], at: .origin, random: 1))

        #expect(messages.count == 2)
        #expect(messages.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    @Test func everything_isPublishedAgain_toABrokerThatMayHaveLostIt() {
        var machine = machine()
        _ = machine.start(at: .origin)
        _ = machine.observed([], alerts: [alert(isRaised: true)], at: .origin, random: 1)

        let messages = published(machine.linkOpened(at: .origin))

        #expect(messages.count == 2)
        #expect(messages.last?.text.hasPrefix(#"{"state":"ON""#) == true)
    }

    @Test func whatDoesNotLast_isNews_onlyOnce() {
        var machine = machine()
        opened(&machine)
        var change = alert()
        (change.isMomentary, change.count) = (true, 4)
        // It happened before this run.
        #expect(published(machine.observed([], alerts: [change], at: .origin, random: 1)).count == 1)

        change.count = 5
        let messages = published(machine.observed([], alerts: [change], at: .origin, random: 1))

        #expect(messages.map(\.isRetained) == [false])
        #expect(messages.first?.text.hasPrefix(#"{"state":"ON""#) == true)
    }
}
