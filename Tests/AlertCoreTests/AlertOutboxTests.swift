import AlertCore
import MeterModel
import Testing

struct AlertOutboxTests {
    private func entry(_ number: Int64, _ target: String = "phone", rule: Int64 = 1) throws -> AlertOutbox.Entry {
        let rule = AlertRule(
            id: AlertID(rawValue: rule), meter: .mac(MACAddress(bits: 1)), pattern: try AlertParser.pattern("stale"))
        return AlertOutbox.Entry(
            number: number, target: target, notice: AlertNotice(.raised, rule, at: .start))
    }

    @Test func one_isSentAtATime_inOrder() throws {
        var outbox = AlertOutbox()
        let (first, second) = (try entry(1), try entry(2))
        #expect(outbox.add(first, at: .at(0)) == nil)
        #expect(outbox.add(second, at: .at(0)) == nil)

        #expect(outbox.due(at: .at(0)) == [first])
        #expect(outbox.due(at: .at(0)).isEmpty)
        #expect(outbox.ended(first, .delivered, at: .at(1)) == .delivered(first))
        #expect(outbox.due(at: .at(1)) == [second])
    }

    @Test func slowOne_delaysNoOther() throws {
        var outbox = AlertOutbox()
        let (slow, other) = (try entry(1, "a"), try entry(2, "b"))
        _ = outbox.add(slow, at: .at(0))
        #expect(outbox.due(at: .at(0)) == [slow])

        _ = outbox.add(other, at: .at(1))

        #expect(outbox.due(at: .at(1)) == [other])
    }

    @Test func failed_isTriedAgain_withGrowingPauses() throws {
        var outbox = AlertOutbox()
        let first = try entry(1)
        _ = outbox.add(first, at: .at(0))
        var (now, pauses) = (0.0, [Duration]())
        for _ in 0..<10 {
            #expect(outbox.due(at: .at(now)) == [first])
            guard case .putOff(_, let pause)? = outbox.ended(first, .failed("no"), at: .at(now)) else { break }
            pauses.append(pause)
            now += Double(pause.milliseconds) / 1000
            #expect(outbox.due(at: .at(now - 0.001)).isEmpty)
        }

        #expect(pauses.prefix(3) == [.seconds(5), .seconds(10), .seconds(20)])
        #expect(pauses.last == .seconds(900))
        #expect(outbox.figures(of: "phone").error == "no")
    }

    @Test func failed_isGivenUp_afterADay() throws {
        var outbox = AlertOutbox()
        let first = try entry(1)
        _ = outbox.add(first, at: .at(0))
        _ = outbox.due(at: .at(0))
        guard case .putOff? = outbox.ended(first, .failed("no"), at: .at(0)) else {
            Issue.record("it is given up at once")
            return
        }
        _ = outbox.due(at: .at(86_400))

        #expect(outbox.ended(first, .failed("no"), at: .at(86_400)) == .givenUp(first))
        #expect(outbox.figures(of: "phone").lost == 1)
        #expect(outbox.isEmpty)
    }

    @Test func noticeOfAnEarlierRun_hasTheRestOfItsDay() throws {
        var outbox = AlertOutbox()
        let first = try entry(1)
        _ = outbox.add(first, age: .seconds(86_000), at: .at(0))
        _ = outbox.due(at: .at(500))

        #expect(outbox.ended(first, .failed("no"), at: .at(500)) == .givenUp(first))
    }

    @Test func refused_isGivenUp_atOnce() throws {
        var outbox = AlertOutbox()
        let (first, second) = (try entry(1), try entry(2))
        _ = outbox.add(first, at: .at(0))
        _ = outbox.add(second, at: .at(0))
        _ = outbox.due(at: .at(0))

        #expect(outbox.ended(first, .refused("404"), at: .at(0)) == .givenUp(first))
        #expect(outbox.due(at: .at(0)) == [second])
    }

    @Test func oldest_givesWay_butNotTheOneUnderWay() throws {
        var outbox = AlertOutbox()
        _ = outbox.add(try entry(1), at: .at(0))
        _ = outbox.due(at: .at(0))
        for number in 2...100 { #expect(outbox.add(try entry(Int64(number)), at: .at(0)) == nil) }

        #expect(outbox.add(try entry(101), at: .at(0))?.number == 2)

        #expect(outbox.figures(of: "phone").waiting == 100)
        #expect(outbox.figures(of: "phone").lost == 1)
    }

    @Test func removedRule_isToldOfNoMore() throws {
        var outbox = AlertOutbox()
        _ = outbox.add(try entry(1), at: .at(0))
        _ = outbox.due(at: .at(0))
        _ = outbox.add(try entry(2), at: .at(0))
        _ = outbox.add(try entry(3, rule: 2), at: .at(0))

        #expect(outbox.remove(AlertID(rawValue: 1)) == [2])

        #expect(outbox.figures(of: "phone").waiting == 2)
    }
}

struct MeterAlertsTests {
    private func rule(_ id: Int64, _ text: String) throws -> AlertRule {
        AlertRule(id: AlertID(rawValue: id), meter: .mac(MACAddress(bits: 1)), pattern: try AlertParser.pattern(text))
    }

    private func reading(_ seconds: Double, _ values: [Quantity: Double]) -> TimedReading {
        var reading = Reading()
        for (quantity, value) in values { reading[quantity] = value }
        return TimedReading(
            wallTime: .start + .milliseconds(Int64(seconds * 1000)), time: .at(seconds), reading: reading)
    }

    @Test func reading_meetsTheRulesOfItsQuantities() throws {
        var alerts = MeterAlerts()
        for (id, text) in [(1, "voltage > 5V"), (2, "current > 1A"), (3, "voltage > 9V"), (4, "stale")] {
            #expect(alerts.add(try rule(Int64(id), text), at: .at(0), .start).isEmpty)
        }

        let events = alerts.received(reading(1, [.voltage: 6, .temperature: 20]))

        #expect(events.map(\.rule.id.rawValue) == [1])
        #expect(alerts.received(reading(2, [.current: 2, .voltage: 10])).map(\.rule.id.rawValue) == [3, 2])
        #expect(alerts.raisedCount == 3)
        #expect(alerts.remove(AlertID(rawValue: 1))?.isRaised == true)
        #expect(alerts.raisedCount == 2)
    }

    @Test func states_areNotJudged_rightAfterAStart() throws {
        var alerts = MeterAlerts(settledAt: .at(30))
        var raised = AlertStanding()
        raised.isRaised = true
        _ = alerts.add(try rule(1, "state is data-available"), raised, at: .at(0), .start)
        _ = alerts.add(try rule(2, "state is not data-available"), at: .at(0), .start)

        #expect(alerts.stateChanged(to: .offline, at: .at(0), .start).isEmpty)
        #expect(alerts.stateChanged(to: .dataAvailable, at: .at(5), .start).isEmpty)
        #expect(alerts.woke(at: .at(31), .start).isEmpty)
        #expect(alerts.raisedCount == 1)
        #expect(alerts.stateChanged(to: .offline, at: .at(40), .start).map(\.rule.id.rawValue) == [1, 2])
    }

    @Test func ruleOfAState_isRaisedAtOnce_whereItHoldsAlready() throws {
        var alerts = MeterAlerts()
        #expect(alerts.stateChanged(to: .offline, at: .at(0), .start).isEmpty)

        #expect(alerts.add(try rule(1, "state is offline"), at: .at(1), .start).count == 1)
    }
}
