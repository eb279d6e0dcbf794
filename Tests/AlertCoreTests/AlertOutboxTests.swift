import Domain
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

    /// What succeeded, was refused or given up ends a row of failures: the next begins with the shortest pause.
    @Test(arguments: [AlertDelivery.delivered, .refused("404")])
    func pauses_beginAnew_afterEachEnd(of delivery: AlertDelivery) throws {
        var outbox = AlertOutbox()
        let entries = try (1...3).map { try entry($0) }
        for entry in entries { _ = outbox.add(entry, at: .at(0)) }
        var now = 0.0
        for entry in entries {
            for pause in [5, 10] {
                #expect(outbox.due(at: .at(now)) == [entry])
                #expect(outbox.ended(entry, .failed("no"), at: .at(now)) == .putOff(entry, .seconds(pause)))
                now += Double(pause)
            }
            #expect(outbox.due(at: .at(now)) == [entry])
            _ = outbox.ended(entry, delivery, at: .at(now))
            #expect(outbox.figures(of: "phone").error == (delivery == .delivered ? nil : "404"))
        }
        #expect(outbox.figures(of: "phone").delivered == (delivery == .delivered ? 3 : 0))
        #expect(outbox.figures(of: "phone").lost == (delivery == .delivered ? 0 : 3))
        #expect(outbox.figures(of: "phone").waiting == 0)
    }

    /// The answer of an attempt that is not under way changes nothing, whichever of the queue it names.
    @Test func lateAnswer_changesNothing() throws {
        var outbox = AlertOutbox()
        let (first, second, stranger) = (try entry(1), try entry(2), try entry(1, "other"))
        _ = outbox.add(first, at: .at(0))
        _ = outbox.add(second, at: .at(0))

        #expect(outbox.ended(first, .delivered, at: .at(0)) == nil)
        _ = outbox.due(at: .at(0))
        #expect(outbox.ended(second, .delivered, at: .at(0)) == nil)
        #expect(outbox.ended(stranger, .delivered, at: .at(0)) == nil)
        #expect(outbox.ended(first, .delivered, at: .at(0)) == .delivered(first))
        #expect(outbox.ended(first, .delivered, at: .at(0)) == nil)

        #expect(outbox.figures(of: "phone").delivered == 1)
        #expect(outbox.figures(of: "phone").waiting == 1)
        #expect(outbox.figures(of: "nobody") == AlertOutbox.Figures())
    }

    /// A day from when it happened, however the calendar stood then: to the very end, and never longer.
    @Test(arguments: [(0, 86_400), (86_000, 400), (86_400, 0), (200_000, 0), (-3600, 86_400)])
    func day_isCountedFromWhatHappened(age: Int, rest: Int) throws {
        for (after, isOver) in [(rest - 1, false), (rest, true)] where after >= 0 {
            var outbox = AlertOutbox()
            let first = try entry(1)
            _ = outbox.add(first, age: .seconds(age), at: .at(0))
            _ = outbox.due(at: .at(Double(after)))
            let ending = outbox.ended(first, .failed("no"), at: .at(Double(after)))
            #expect(ending == (isOver ? .givenUp(first) : .putOff(first, .seconds(5))))
        }
    }

    @Test func oldest_givesWay_whereNoneIsUnderWay() throws {
        var outbox = AlertOutbox()
        for number in 1...100 { #expect(outbox.add(try entry(Int64(number)), at: .at(0)) == nil) }
        for number in 101...103 {
            #expect(outbox.add(try entry(Int64(number)), at: .at(0))?.number == Int64(number - 100))
        }
        #expect(outbox.figures(of: "phone").lost == 3)
        #expect(outbox.due(at: .at(0)).map(\.number) == [4])
    }

    /// All that waits of a rule goes, from every queue, but for what is under way; others stay in their order.
    @Test func removedRule_leavesEveryQueue() throws {
        var outbox = AlertOutbox()
        for (number, target, rule) in [
            (1, "a", 1), (2, "a", 1), (3, "a", 2), (4, "b", 2), (5, "b", 1), (6, "c", 1), (7, "c", 1),
        ] as [(Int64, String, Int64)] {
            _ = outbox.add(try entry(number, target, rule: rule), at: .at(0))
        }
        let sent = outbox.due(at: .at(0)).filter { $0.target != "c" }
        _ = outbox.ended(try entry(6, "c"), .failed("no"), at: .at(0))

        #expect(sent.map(\.number) == [1, 4])
        #expect(outbox.remove(AlertID(rawValue: 1)) == [2, 5, 6, 7])
        #expect(!outbox.isEmpty)
        #expect(outbox.ended(sent[0], .delivered, at: .at(1)) == .delivered(sent[0]))
        #expect(outbox.due(at: .at(1)).map(\.number) == [3])
        #expect(["a", "b", "c"].map { outbox.figures(of: $0).waiting } == [1, 1, 0])
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
        var raised = AlertSnapshot()
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

    /// A start: states and silence are judged from its settling on, to the moment.
    @Test func settling_endsExactlyWhenItIsSaidTo() throws {
        var alerts = MeterAlerts(settledAt: .at(30))
        _ = alerts.add(try rule(1, "stale for 5s"), at: .at(0), .start)
        _ = alerts.add(try rule(2, "state is offline"), at: .at(0), .start)
        #expect(alerts.stateChanged(to: .offline, at: .at(1), .start).isEmpty)

        #expect(alerts.woke(at: .at(29.999), .start).isEmpty)
        #expect(alerts.woke(at: .at(30), .start).map(\.rule.id.rawValue) == [2])
        #expect(alerts.woke(at: .at(34.999), .start).isEmpty)
        #expect(alerts.woke(at: .at(35), .start).map(\.rule.id.rawValue) == [1])
        #expect(alerts.received(reading(36, [.voltage: 5])).map(\.outcome) == [.cleared(value: nil)])
        #expect(MeterAlerts.settling == .seconds(30))
        #expect(MeterAlerts.gapMaxDefault == .seconds(10))
        #expect(MeterAlerts().gapMax == .seconds(10))
    }

    /// Rules of one quantity stand side by side, whatever was added between them or taken away: each hears what it watches,
    /// once, in the order of their numbers.
    @Test func everyRule_hearsItsQuantity_throughAddingAndRemoving() throws {
        var rng = SplitMix64(seed: 3)
        let quantities = [Quantity.voltage, .current, .power, .temperature]
        var alerts = MeterAlerts()
        var present: [Int64: Quantity?] = [:]
        #expect(alerts.isEmpty && !alerts.needsWaking && !alerts.asksForHolder)
        for round in 1...120 {
            let id = Int64(rng.next() % 12)
            if present.removeValue(forKey: id) != nil {
                #expect(alerts.remove(AlertID(rawValue: id)) != nil)
                #expect(alerts.remove(AlertID(rawValue: id)) == nil)
            } else {
                let quantity = rng.next() % 4 == 0 ? nil : quantities[Int(rng.next() % 4)]
                let text = quantity.map { "\($0.alertWord) > 1\($0.unit) hysteresis 0\($0.unit)" } ?? "stale for 1s"
                _ = alerts.add(try rule(id, text), at: .at(Double(100 * round)), .start)
                present[id] = .some(quantity)
            }
            #expect(alerts.isEmpty == present.isEmpty)
            #expect(alerts.needsWaking == present.values.contains { $0 == nil })
            for id in 0..<Int64(12) {
                #expect((alerts.standing(of: AlertID(rawValue: id)) != nil) == (present[id] != nil))
            }
            let now = Double(100 * round)
            let raised = alerts.woke(at: .at(now + 50), .start).map(\.rule.id.rawValue)
            #expect(raised == present.filter { $0.value == nil }.keys.sorted(), "round \(round)")
            #expect(alerts.raisedCount == raised.count)
            let seen = quantities.filter { _ in rng.next() % 2 == 0 }
            let expected = present.compactMap { id, quantity -> (Int, Int64)? in
                guard let quantity else { return (-1, id) }
                return seen.contains(quantity) ? (Int(quantity.rawValue), id) : nil
            }.sorted { $0 < $1 }.map(\.1)
            let values = Dictionary(uniqueKeysWithValues: seen.map { ($0, 2.0) })
            #expect(alerts.received(reading(now + 60, values)).map(\.rule.id.rawValue) == expected, "round \(round)")
            let quiet = Dictionary(uniqueKeysWithValues: quantities.map { ($0, 0.0) })
            _ = alerts.received(reading(now + 61, quiet))
            #expect(alerts.raisedCount == 0)
        }
    }

    @Test func holders_areAskedFor_whereARuleWatchesThem() throws {
        var alerts = MeterAlerts()
        _ = alerts.add(try rule(1, "stale"), at: .at(0), .start)
        #expect(!alerts.asksForHolder)
        _ = alerts.add(try rule(2, "holder changes"), at: .at(0), .start)
        #expect(alerts.asksForHolder)
        _ = alerts.remove(AlertID(rawValue: 1))
        #expect(!alerts.needsWaking)

        #expect(alerts.holderIs("a", at: .at(1), .start).isEmpty)
        let events = alerts.holderIs("b", at: .at(2), .start + .seconds(2))
        #expect(events.map(\.outcome) == [.happened])
        #expect(events.map(\.at) == [.start + .seconds(2)])
        #expect(alerts.standing(of: AlertID(rawValue: 2))?.raisedAt == .start + .seconds(2))
        #expect(alerts.standing(of: AlertID(rawValue: 2))?.holder == "b")
    }
}
