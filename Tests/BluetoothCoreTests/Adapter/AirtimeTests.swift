import Domain
import Testing

@testable import BluetoothCore

/// How much of the air the search takes, case by case, and from when to when.
struct AirtimeTests {
    private let timing = AdapterTiming()
    private static let none = SearchDemand()
    private static let missing = SearchDemand(missing: .lowEnergy, missingCount: 1)
    private static let classic = SearchDemand(missing: .classic, missingCount: 1)
    private static let distant = SearchDemand(hasDistant: true)
    private static let fast = SearchDemand(hasFastStream: true)
    private static let fastAndMissing = SearchDemand(missing: .classic, missingCount: 1, hasFastStream: true)
    private static let byHand = SearchDemand(byHandUntil: .origin + .seconds(300))
    private static let long = Duration.seconds(299)
    private static let rounds = AirShare.rounds(rest: .seconds(8))
    private static let longRounds = AirShare.rounds(rest: .seconds(20))

    @Test(
        arguments: [
            (SearchMode.always, false, none, .zero, rounds, true, nil), (.always, true, fast, .zero, rounds, true, nil),
            (.always, false, missing, .zero, rounds, true, nil),
            (.always, false, missing, .seconds(300), rounds, true, nil),
            (.gentle, false, none, .zero, .sparse, false, nil), (.onDemand, false, none, .zero, .none, false, nil),
            (.gentle, false, missing, .zero, rounds, false, 300),
            (.onDemand, false, missing, .zero, rounds, false, 300),
            (.gentle, false, classic, .zero, rounds, true, 300), (.gentle, false, classic, long, rounds, true, 300),
            (.gentle, false, classic, .seconds(300), longRounds, true, nil),
            (.onDemand, true, missing, .seconds(300), longRounds, false, nil),
            (.onDemand, false, distant, .zero, .sparse, false, nil),
            (.gentle, true, distant, .zero, .sparse, false, nil),
            (.gentle, true, fast, .zero, .none, false, nil), (.gentle, false, fast, .zero, .sparse, false, nil),
            (.gentle, true, fastAndMissing, .zero, .sparse, false, nil),
            (.gentle, false, fastAndMissing, .zero, rounds, true, 300),
            (.onDemand, false, byHand, long, .full, true, 300),
            (.onDemand, false, byHand, .seconds(300), .none, false, nil),
            (.always, true, byHand, long, .full, true, 300), (.always, true, byHand, .seconds(300), rounds, true, nil),
        ] as [(SearchMode, Bool, SearchDemand, Duration, AirShare, Bool, Int?)])
    func share_isOfTheDemand(
        mode: SearchMode, isShared: Bool, demand: SearchDemand, after: Duration, share: AirShare, inquires: Bool,
        wake: Int?
    ) {
        var airtime = Airtime(mode: mode, isShared: isShared)
        #expect(airtime.demandChanged(demand, at: .origin) == (demand != Self.none))
        #expect(airtime.demandChanged(demand, at: .origin + .seconds(100)) == false, "the same demand is no change")
        airtime.update(at: .origin + after, timing)

        #expect(airtime.share == share)
        #expect(airtime.inquires == inquires)
        #expect(airtime.wakeTime(timing) == wake.map { .origin + .seconds($0) })
    }

    /// The patience begins anew with each meter more, and once all were there; a meter less leaves it as it is.
    @Test func patience_beginsAnew_withEachMeterThatGoesMissing() {
        var airtime = Airtime(mode: .gentle, isShared: false)
        for (count, second, expected) in [
            (1, 0, 300), (2, 100, 400), (1, 200, 400), (2, 250, 550), (0, 260, nil), (1, 600, 900),
        ] {
            let demand = SearchDemand(missing: count == 0 ? [] : .lowEnergy, missingCount: count)
            #expect(airtime.demandChanged(demand, at: .origin + .seconds(second)) == true)
            airtime.update(at: .origin + .seconds(second), timing)
            #expect(airtime.wakeTime(timing) == expected.map { .origin + .seconds($0) })
            #expect(airtime.demand == demand)
        }
    }

    @Test func rounds_areAsLongAndAsFarApart_asTheShareSays() {
        let (began, ended) = (MonotonicTime.origin + .seconds(100), MonotonicTime.origin + .seconds(130))
        for (share, round, withClassic, next) in [
            (AirShare.full, 8, 60, 131), (.rounds(rest: .seconds(20)), 8, 60, 150), (.sparse, 5, 5, 160),
            (.none, 0, 0, nil),
        ] as [(AirShare, Int, Int, Int?)] {
            #expect(share.roundLimit(.lowEnergy, timing) == .seconds(round))
            #expect(share.roundLimit(.interleaved, timing) == .seconds(withClassic))
            #expect(share.nextRound(began: began, ended: ended, timing) == next.map { .origin + .seconds($0) })
        }
        // A sparse round that lasted long is followed by a rest all the same.
        let late = MonotonicTime.origin + .seconds(155)
        #expect(AirShare.sparse.nextRound(began: began, ended: late, timing) == late + .seconds(8))
    }

    /// Each stands beside its source in `AdapterTiming`.
    @Test func times_areThoseOfTheirSources() {
        let seconds: [(Duration, Int)] = [
            (timing.answerLimit, 8), (timing.powerLimit, 20), (timing.rest, 8), (timing.restLong, 20),
            (timing.missingPatience, 300), (timing.restByHand, 1), (timing.round, 8), (timing.sparseRound, 5),
            (timing.sparseInterval, 60), (timing.roundKernel, 10), (timing.busyDoubt, 5), (timing.roundMax, 60),
            (timing.roundMin, 2), (timing.inquiryInterval, 15), (timing.inquiryIntervalLinked, 60),
            (timing.silenceLimit, 60), (timing.silenceLimitNever, 300), (timing.failedRetry, 600),
            (timing.failedRetryMax, 3600), (timing.unansweredBelieved, 60), (timing.resetLimit, 15),
            (timing.retryBase, 1), (timing.retryMax, 60), (timing.forbiddenRetry, 60), (timing.busyRetry, 30),
            (timing.offGrace, 20), (timing.offGraceMax, 3600), (timing.attemptMax, 30), (timing.pauseMax, 20),
            (timing.breath, 12), (timing.pauseMaxShared, 60),
        ]
        for (place, (time, expected)) in seconds.enumerated() { #expect(time == .seconds(expected), "number \(place)") }
        #expect(timing.limit(of: .setPowered(true)) == timing.powerLimit)
        #expect(timing.limit(of: .readInfo) == timing.answerLimit)
    }
}

/// Whose discovery runs, how long, and what comes after it.
struct SearchRoundsTests {
    private let timing = AdapterTiming()
    private let slots = LinkSlots(linksMax: 5)
    private static let dual: ControllerSettings = [.powered, .classic, .lowEnergy]

    private func at(_ seconds: Double) -> MonotonicTime { .origin + .milliseconds(Int64(seconds * 1000)) }

    private func search(_ mode: SearchMode = .always, _ demand: SearchDemand = SearchDemand()) -> AdapterSearch {
        var search = AdapterSearch(mode: mode, isShared: false)
        search.begin(at: .origin)
        _ = search.demandChanged(demand, at: .origin)
        search.update(hasAttempts: false, at: .origin, timing)
        return search
    }

    private func next(_ search: AdapterSearch, at seconds: Double) -> ManagementCommand? {
        search.command(with: Self.dual, beside: slots, at: at(seconds), timing)
    }

    /// The grant may come before the event, after it, or without one: the discovery is ours, from the first sign on.
    @Test(arguments: [["grant"], ["grant", "event"], ["event", "grant"], ["event"]])
    func ownDiscovery_isOurs_whicheverSignComesFirst(signs: [String]) {
        var search = search()
        for (place, sign) in signs.enumerated() {
            let now = at(Double(place))
            if sign == "grant" {
                search.started(.lowEnergy, at: now)
            } else {
                let isAnothers = search.begun(.lowEnergy, isOurs: true, at: now)
                #expect(!isAnothers)
            }
            search.update(hasAttempts: false, at: now, timing)
        }
        #expect(search.owner == .own)
        #expect(search.isRunning)
        #expect(search.farewell == .stopDiscovery(.lowEnergy))
        #expect(search.time(at: at(5)) == .seconds(5))
        #expect(next(search, at: 7.999) == nil)
        #expect(next(search, at: 8) == .stopDiscovery(.lowEnergy))
        #expect(search.commandTime(timing) == at(8))
        let end = search.ended(isStopped: false, at: at(9), timing)
        #expect(end == .inTime)
        search.update(hasAttempts: false, at: at(9), timing)
        #expect(search.time(at: at(50)) == .seconds(9))
        #expect(search.farewell == nil && search.owner == nil && !search.isRunning)
    }

    /// Another program's is not ours until ours is granted; its time is not ours, and nothing is to be stopped.
    @Test func anothersDiscovery_isNotOurs_untilOursIsGranted() {
        var search = search()
        let isAnothers = search.begun(.lowEnergy, isOurs: false, at: at(0))
        search.update(hasAttempts: false, at: at(0), timing)
        #expect(isAnothers)
        #expect(search.owner == .another)
        #expect(search.farewell == nil)
        #expect(search.time(at: at(20)) == .zero)
        #expect(next(search, at: 29.999) == nil)
        #expect(next(search, at: 30) == .startDiscovery(.interleaved))
        #expect(search.commandTime(timing) == at(30))
        var without = search
        #expect(without.ended(isStopped: false, at: at(1), timing) == nil)

        search.started(.interleaved, at: at(30))
        search.update(hasAttempts: false, at: at(30), timing)
        #expect(search.owner == .own)
        #expect(search.time(at: at(33)) == .seconds(3))
        #expect(search.farewell == .stopDiscovery(.interleaved))
    }

    /// Less than two seconds is a failure. Less than ten leaves the air to another program, which may have ended it.
    @Test(arguments: [
        (1.999, true, 9.999), (2, false, 10), (9.999, false, 17.999), (10, false, 11),
    ])
    func end_isJudgedByItsTime(seconds: Double, isTooSoon: Bool, next: Double) {
        var search = search(.onDemand, SearchDemand(byHandUntil: at(1000)))
        search.started(.interleaved, at: at(0))
        search.update(hasAttempts: false, at: at(0), timing)
        let end = search.ended(isStopped: false, at: at(seconds), timing)
        search.update(hasAttempts: false, at: at(seconds), timing)
        #expect(end == (isTooSoon ? .tooSoon : .inTime))
        #expect(search.commandTime(timing) == at(next))
        #expect(self.next(search, at: next - 0.001) == nil)
        #expect(self.next(search, at: next) != nil)

        var stopped = self.search(.onDemand, SearchDemand(byHandUntil: at(1000)))
        stopped.started(.interleaved, at: at(0))
        stopped.update(hasAttempts: false, at: at(0), timing)
        let none = stopped.ended(isStopped: true, at: at(seconds), timing)
        stopped.update(hasAttempts: false, at: at(seconds), timing)
        #expect(none == nil)
        #expect(stopped.commandTime(timing) == at(seconds + 1))
        #expect(stopped.ended(isStopped: false, at: at(seconds), timing) == nil, "it is over")
    }

    /// The waits double three times; each fourth is a fault. A discovery that is seen, or a kernel that is not busy, ends
    /// the row.
    @Test func doubts_doubleThreeTimes_andEndWithASign() {
        for sign in 0..<3 {
            var search = search()
            for _ in 0..<2 {
                for (hold, isFault) in [
                    (5, false), (10, false), (20, false), (40, true), (40, false), (40, false), (40, false), (40, true),
                ] {
                    let busy = search.wasBusy(.lowEnergy, at: at(1), timing)
                    #expect(busy == .doubted(hold: .seconds(hold), isFault: isFault))
                    #expect(search.hasDoubts)
                }
                switch sign {
                case 0: search.clearDoubts()
                case 1: _ = search.begun(.lowEnergy, isOurs: false, at: at(2))
                default: search.heardWithoutDiscovery(at: at(2), timing)
                }
                #expect(!search.hasDoubts)
                if sign > 0 {
                    #expect(search.owner == .another)
                    let busy = search.wasBusy(.lowEnergy, at: at(3), timing)
                    #expect(busy == .believed)
                    #expect(search.commandTime(timing) == at(33), "counted from the last sign of it")
                    search.stopped()
                }
                #expect(!search.hasDoubts)
            }
        }
    }

    /// Another program's discovery is a reason to be busy, however short it is; one of ours is none until it is granted.
    @Test func doubts_endWithAnothersDiscovery_howeverShort() {
        for isOurs in [false, true] {
            var search = search()
            for _ in 0..<2 { _ = search.wasBusy(.lowEnergy, at: at(1), timing) }
            _ = search.begun(.lowEnergy, isOurs: isOurs, at: at(2))
            search.stopped()
            #expect(search.hasDoubts == isOurs)
            let busy = search.wasBusy(.lowEnergy, at: at(3), timing)
            #expect(busy == .doubted(hold: .seconds(isOurs ? 20 : 5), isFault: false))
        }
    }

    /// Classic is listened to where the controller can, not more often than its interval, and alone where it is all there is.
    @Test func kinds_areWhatTheControllerCanDo() {
        for (settings, kinds) in [
            ([.lowEnergy, .classic], .interleaved), ([.lowEnergy], .lowEnergy), ([.classic], .classic),
            ([], .lowEnergy),
        ] as [(ControllerSettings, DiscoveryKinds)] {
            let command = search().command(with: settings, beside: slots, at: at(0), timing)
            #expect(command == .startDiscovery(kinds))
        }
        for isGranted in [true, false] {
            for (kinds, second, expected) in [
                (DiscoveryKinds.interleaved, 14.999, DiscoveryKinds.lowEnergy), (.interleaved, 15, .interleaved),
                (.lowEnergy, 14.999, .interleaved),
            ] {
                var search = search()
                if isGranted {
                    search.started(kinds, at: at(0))
                } else {
                    _ = search.begun(kinds, isOurs: false, at: at(0))
                }
                search.update(hasAttempts: false, at: at(0), timing)
                _ = search.ended(isStopped: true, at: at(2), timing)
                search.update(hasAttempts: false, at: at(2), timing)
                #expect(next(search, at: second) == .startDiscovery(expected), "\(kinds) \(second)")
            }
        }
        // Links are disturbed by an inquiry: it comes once a minute.
        var linked = LinkSlots(linksMax: 5)
        _ = linked.begin(SlotKey(MACAddress(bits: 1), isClassic: false), at: at(0))
        _ = linked.succeed(SlotKey(MACAddress(bits: 1), isClassic: false))
        var search = search()
        search.started(.interleaved, at: at(0))
        search.update(hasAttempts: false, at: at(0), timing)
        _ = search.ended(isStopped: true, at: at(2), timing)
        search.update(hasAttempts: false, at: at(2), timing)
        for (second, kinds) in [(59.999, DiscoveryKinds.lowEnergy), (60, .interleaved)] {
            let command = search.command(with: Self.dual, beside: linked, at: at(second), timing)
            #expect(command == .startDiscovery(kinds))
        }
    }

    /// While attempts rest the search, nothing is begun and ours is ended; silence is not counted.
    @Test func attempts_restTheSearch() {
        var search = search()
        search.update(hasAttempts: true, at: at(1), timing)
        #expect(next(search, at: 2) == nil)
        #expect(search.commandTime(timing) == nil)
        #expect(search.pauseTime(timing) == at(21))
        search.started(.lowEnergy, at: at(3))
        search.update(hasAttempts: true, at: at(3), timing)
        #expect(next(search, at: 3) == .stopDiscovery(.lowEnergy))
        #expect(search.silence == nil)
        search.update(hasAttempts: false, at: at(4), timing)
        #expect(next(search, at: 4) == nil)
        #expect(search.silence != nil)

        var another = self.search()
        _ = another.begun(.lowEnergy, isOurs: false, at: at(0))
        another.update(hasAttempts: true, at: at(0), timing)
        #expect(next(another, at: 60) == nil)
        #expect(another.commandTime(timing) == nil)
    }

    @Test func searchThatIsNotNeeded_waitsForNothing() {
        var search = search(.onDemand)
        #expect(next(search, at: 0) == nil)
        #expect(search.commandTime(timing) == nil)
        _ = search.begun(.lowEnergy, isOurs: false, at: at(0))
        search.update(hasAttempts: false, at: at(0), timing)
        #expect(next(search, at: 60) == nil)
        #expect(search.commandTime(timing) == nil)
        search.addTime(before: .seconds(7))
        #expect(search.time(at: at(9)) == .seconds(7))
    }

    /// A discovery that runs already is unknown to a program that comes: it is ended at once, and stays ours till then.
    @Test func restart_endsTheRound_whoseverItWas() {
        for isOurs in [true, false] {
            var search = search()
            _ = search.begun(.interleaved, isOurs: isOurs, at: at(100))
            search.update(hasAttempts: false, at: at(100), timing)
            search.restart(at: at(101), timing)
            #expect(search.owner == .own)
            #expect(next(search, at: 101) == .stopDiscovery(.interleaved))
        }
        var none = search()
        none.restart(at: at(1), timing)
        #expect(!none.isRunning)
        none.giveWay(at: at(1), timing)
        none.started(.lowEnergy, at: at(2))
        none.update(hasAttempts: false, at: at(2), timing)
        #expect(next(none, at: 8.999) == .stopDiscovery(.lowEnergy))
        #expect(next(none, at: 9) == nil)
    }
}
