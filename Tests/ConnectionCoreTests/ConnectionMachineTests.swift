import Domain
import Testing

struct ConnectionMachineTests {
    private func linked(at time: MonotonicTime = .seconds(0)) -> ConnectionMachine {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: time)
        _ = machine.woke(at: time, random: 0)
        _ = machine.channelOpened(at: time)
        _ = machine.lineReady(at: time)
        return machine
    }

    @Test func appeared_opensAtOnce_whenWanted() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: .seconds(1))
        #expect(machine.state == .notConnected)
        #expect(machine.nextWake == .seconds(1))
        let action = machine.woke(at: .seconds(1), random: 0)
        #expect(action == .openChannel)
        #expect(machine.state == .connecting)
    }

    @Test func appeared_onlyShowsIt_whenNobodyWantsIt() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: false)
        machine.appeared(at: .seconds(1))
        #expect(machine.state == .notConnected)
        #expect(machine.nextWake == nil)
    }

    @Test func everyStateIsPassed_onTheWayToData() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: false)
        var seen = [machine.state]
        machine.appeared(at: .seconds(0))
        seen.append(machine.state)
        machine.connectWanted(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        seen.append(machine.state)
        _ = machine.channelOpened(at: .seconds(1))
        seen.append(machine.state)
        _ = machine.lineReady(at: .seconds(1))
        seen.append(machine.state)
        machine.requestSent(at: .seconds(1))
        seen.append(machine.state)
        machine.frameReceived(at: .seconds(2))
        seen.append(machine.state)
        #expect(seen == ConnectionState.allCases)
    }

    @Test func connected_neverMeansData_withoutAFrame() {
        var machine = linked()
        machine.requestSent(at: .seconds(0))
        #expect(machine.state == .communicating)
    }

    /// Whoever is asked first, nobody is asked for a meter that nobody wants.
    @Test(arguments: [false, true])
    func meterThatNobodyWantsAnyMore_isNotTried(asksFirst: Bool) {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: asksFirst)
        machine.appeared(at: .seconds(0))
        _ = machine.disconnectWanted()
        for second in 0..<100 { #expect(machine.woke(at: .seconds(second), random: 0) == .none) }
        #expect(machine.state == .notConnected)
    }

    /// Other times begin to count when they are set; the same times change nothing.
    @Test func timesThatAreSet_forgiveTheSilenceSoFar_unlessTheyAreTheSame() {
        var timing = ConnectionTiming()
        let silence = timing.silenceTimeout
        var machine = linked()
        machine.requestSent(at: .seconds(0))
        machine.timingChanged(timing, at: .seconds(5))
        #expect(machine.nextWake == MonotonicTime.seconds(0) + silence)
        timing.staleAfter += .seconds(1)
        machine.timingChanged(timing, at: .seconds(5))
        #expect(machine.nextWake == MonotonicTime.seconds(5) + silence)

        var ready = linked()
        ready.timingChanged(timing, at: .seconds(5))
        #expect(ready.nextWake == MonotonicTime.seconds(5) + silence)
    }

    @Test func data_growsStale_andReturnsWithAFrame() {
        var machine = linked()
        machine.frameReceived(at: .seconds(1))
        _ = machine.woke(at: .milliseconds(3999), random: 0)
        #expect(machine.state == .dataAvailable)
        _ = machine.woke(at: .seconds(4), random: 0)
        #expect(machine.state == .communicating)
        machine.frameReceived(at: .seconds(5))
        #expect(machine.state == .dataAvailable)
    }

    @Test func silence_closesTheLink_countedFromTheLastFrame() {
        var machine = linked()
        machine.frameReceived(at: .seconds(1))
        _ = machine.woke(at: .seconds(4), random: 0)
        #expect(machine.nextWake == .seconds(16))
        let action = machine.woke(at: .seconds(16), random: 0)
        #expect(action == .closeChannel(.silent))
        #expect(machine.state == .offline)
    }

    @Test func lostLink_isTriedAgain_whileTheDeviceIsThere() throws {
        var machine = linked()
        machine.frameReceived(at: .seconds(1))
        machine.channelClosed(at: .seconds(2), random: 0)
        #expect(machine.state == .offline)
        _ = machine.woke(at: try #require(machine.nextWake), random: 0)
        #expect(machine.state == .notConnected)
        let action = machine.woke(at: try #require(machine.nextWake), random: 0)
        #expect(action == .openChannel)
    }

    @Test func lostLink_waitsForTheDevice_whenItIsGone() {
        var machine = linked()
        machine.channelClosed(at: .seconds(2), random: 0)
        _ = machine.vanished()
        #expect(machine.nextWake == nil)
        machine.appeared(at: .seconds(99))
        let action = machine.woke(at: .seconds(99), random: 0)
        #expect(action == .openChannel)
    }

    @Test func failedAttempts_areRepeatedForEver_atCappedIntervals() throws {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        var now = MonotonicTime.seconds(0)
        for attempt in 1...500 {
            machine.channelClosed(at: now, random: UInt64(attempt))
            let wake = try #require(machine.nextWake)
            #expect(wake - now <= .seconds(72), "attempt \(attempt)")
            now = wake
            let action = machine.woke(at: now, random: 0)
            #expect(action == .openChannel, "attempt \(attempt)")
        }
    }

    @Test func connectTimeout_closesAndBacksOff() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        let action = machine.woke(at: .seconds(10), random: 0)
        #expect(action == .closeChannel(.connecting))
        #expect(machine.state == .notConnected)
        #expect(machine.failures == 1)
    }

    @Test func disconnect_inhibitsReconnect_untilTheNextConnect() {
        var machine = linked()
        let action = machine.disconnectWanted()
        #expect(action == .closeChannel)
        #expect(machine.state == .notConnected)
        #expect(machine.nextWake == nil)
        _ = machine.vanished()
        machine.appeared(at: .seconds(50))
        let again = machine.woke(at: .seconds(50), random: 0)
        #expect(again == .none)
        machine.connectWanted(at: .seconds(60))
        let wanted = machine.woke(at: .seconds(60), random: 0)
        #expect(wanted == .openChannel)
    }

    @Test func lateOpening_isClosed_whenNobodyWaitsForIt() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        _ = machine.disconnectWanted()
        let action = machine.channelOpened(at: .seconds(1))
        #expect(action == .closeChannel)
    }

    @Test func shorterTimes_makeItStale_butNeverCutAHealthyLink() {
        var machine = linked()
        machine.frameReceived(at: .seconds(1))
        machine.timingChanged(
            ConnectionTiming(staleAfter: .seconds(9000), silenceTimeout: .seconds(9000)), at: .seconds(2))
        machine.timingChanged(ConnectionTiming(), at: .seconds(2000))
        #expect(machine.state == .communicating)
        let soon = machine.woke(at: .seconds(2014), random: 0)
        #expect(soon == .none)
        let late = machine.woke(at: .seconds(2015), random: 0)
        #expect(late == .closeChannel(.silent))
    }

    // MARK: Times

    /// One machine in each state that time alone ends, with the time at which it does.
    private func timed() -> [(machine: ConnectionMachine, ends: MonotonicTime, with: ConnectionMachine.OnWake)] {
        var connecting = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        connecting.appeared(at: .seconds(0))
        _ = connecting.woke(at: .seconds(1), random: 0)
        var connected = connecting
        _ = connected.channelOpened(at: .seconds(2))
        var ready = connected
        _ = ready.lineReady(at: .seconds(3))
        var communicating = ready
        communicating.requestSent(at: .seconds(4))
        var data = communicating
        data.frameReceived(at: .seconds(5))
        return [
            (connecting, .seconds(11), .closeChannel(.connecting)), (connected, .seconds(12), .closeChannel(.silent)),
            (ready, .seconds(18), .closeChannel(.silent)), (communicating, .seconds(19), .closeChannel(.silent)),
            (data, .seconds(8), .none),
        ]
    }

    @Test func everyState_endsExactlyAtItsTime_andNotBefore() {
        for (machine, end, outcome) in timed() {
            #expect(machine.nextWake == end, "\(machine.state)")
            var early = machine
            let before = early.woke(at: end + .milliseconds(-1), random: 0)
            #expect(before == .none, "\(machine.state)")
            #expect(early.state == machine.state)
            var late = machine
            let after = late.woke(at: end, random: 0)
            #expect(after == outcome, "\(machine.state)")
            #expect(late.state != machine.state)
        }
    }

    /// Whatever state it was in: gone is gone, and nothing is waited for.
    @Test func device_thatIsGone_endsEveryLink() {
        for (machine, _, _) in timed() {
            for isLetGo in [false, true] {
                var gone = machine
                let action = isLetGo ? gone.disconnectWanted() == .closeChannel : gone.vanished() == .closeChannel
                #expect(action, "\(machine.state)")
                #expect(gone.state == (isLetGo ? .notConnected : .offline))
                #expect(gone.nextWake == nil)
            }
            var unpermitted = machine
            let lost = unpermitted.permissionLost(at: .seconds(30))
            #expect(lost == .closeChannel, "\(machine.state)")
            #expect(unpermitted.retryAt == .seconds(30))
        }
    }

    /// A link that is there is not begun anew by anybody who wants it or sees it.
    @Test func link_staysAsItIs_whenItIsWantedOrSeenAgain() {
        for (machine, end, _) in timed() {
            var again = machine
            again.connectWanted(at: .seconds(6))
            again.appeared(at: .seconds(6))
            #expect(again.state == machine.state)
            #expect(again.nextWake == end)
        }
    }

    @Test func meterThatIsNotThere_isNotTried_untilItAppears() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: false)
        #expect(machine.failures == 0)
        machine.connectWanted(at: .seconds(1))
        #expect(machine.state == .offline)
        #expect(machine.nextWake == nil)
        machine.appeared(at: .seconds(2))
        #expect(machine.nextWake == .seconds(2))
        _ = machine.disconnectWanted()
        _ = machine.vanished()
        let action = machine.disconnectWanted()
        #expect(action == .none)
        #expect(machine.state == .offline)
    }

    /// Failures are counted from when data last came, over lost links and attempts, and each makes the wait longer.
    @Test func failures_count_untilDataComes_orAPersonLetsItGo() throws {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true)
        machine.appeared(at: .seconds(0))
        func attempt() throws -> MonotonicTime {
            let due = try #require(machine.nextWake)
            let action = machine.woke(at: due, random: 200)
            #expect(action == .openChannel)
            return due
        }
        for (failures, wait) in [(1, 1), (2, 2), (3, 4)] {
            let now = try attempt()
            if failures == 2 {
                let end = now + .seconds(10)
                _ = machine.woke(at: end, random: 200)
                #expect(machine.retryAt == end + .seconds(wait))
            } else {
                machine.channelClosed(at: now, random: 200)
                #expect(machine.retryAt == now + .seconds(wait))
            }
            #expect(machine.failures == failures)
        }
        var letGo = machine
        _ = letGo.disconnectWanted()
        #expect(letGo.failures == 0)

        let now = try attempt()
        _ = machine.channelOpened(at: now)
        _ = machine.lineReady(at: now)
        #expect(machine.failures == 3)
        machine.frameReceived(at: now)
        #expect(machine.failures == 0)

        machine.channelClosed(at: now, random: 200)
        let settled = now + .milliseconds(500)
        #expect(machine.failures == 1)
        #expect(machine.nextWake == settled)
        _ = machine.woke(at: settled, random: 200)
        #expect(machine.retryAt == settled + .seconds(1))
    }

    /// Shorter times are judged from when they are set; a frame exactly as old as they allow is stale.
    @Test func shorterTimes_findAFrameStale_fromTheirExactLengthOn() {
        for (staleAfter, state) in [(2, ConnectionState.communicating), (3, .dataAvailable)] {
            var machine = linked()
            machine.frameReceived(at: .seconds(1))
            machine.timingChanged(ConnectionTiming(staleAfter: .seconds(99)), at: .seconds(1))
            machine.timingChanged(ConnectionTiming(staleAfter: .seconds(staleAfter)), at: .seconds(3))
            #expect(machine.state == state)
        }
    }

    @Test func times_areThoseOfTheDocumentation() {
        let timing = ConnectionTiming()
        #expect(timing.connectTimeout == .seconds(10))
        #expect(timing.staleAfter == .seconds(3))
        #expect(timing.silenceTimeout == .seconds(15))
        #expect(timing.settleTime == .milliseconds(500))
        #expect(timing.backoff == Backoff(base: .seconds(1), cap: .seconds(60)))
        #expect(Backoff() == Backoff(base: .seconds(1), cap: .seconds(60)))
    }

    // MARK: Permission

    @Test func attempt_waitsForPermission_whereOthersHaveASay() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: true)
        machine.appeared(at: .seconds(0))

        let asked = machine.woke(at: .seconds(0), random: 0)
        let later = machine.woke(at: .seconds(3600), random: 0)

        #expect(asked == .requestPermission)
        #expect(later == .none)
        #expect(machine.state == .notConnected)
        #expect(machine.nextWake == nil)
        let permitted = machine.permitted(at: .seconds(3600))
        #expect(permitted == .openChannel)
        #expect(machine.nextWake == .seconds(3610))
    }

    @Test func permission_isAwaited_fromTheQuestionToTheAnswer() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: true)
        machine.appeared(at: .seconds(0))
        #expect(!machine.awaitsPermission)
        _ = machine.woke(at: .seconds(0), random: 0)
        #expect(machine.awaitsPermission)
        _ = machine.permitted(at: .seconds(1))
        #expect(!machine.awaitsPermission)
    }

    @Test func permission_isOfNoUse_whenNobodyWaitsForIt() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        _ = machine.disconnectWanted()

        let permitted = machine.permitted(at: .seconds(1))

        #expect(permitted == .none)
        #expect(machine.state == .notConnected)
    }

    @Test func lostPermission_closesTheChannel_andAsksAgain_withoutAFailure() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        _ = machine.permitted(at: .seconds(0))
        _ = machine.channelOpened(at: .seconds(1))

        let lost = machine.permissionLost(at: .seconds(2))
        let asked = machine.woke(at: .seconds(2), random: 0)

        #expect(lost == .closeChannel)
        #expect(machine.failures == 0)
        #expect(asked == .requestPermission)
    }

    @Test func permission_belongsToOneAttempt() {
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: true)
        machine.appeared(at: .seconds(0))
        _ = machine.woke(at: .seconds(0), random: 0)
        _ = machine.permitted(at: .seconds(0))
        machine.channelClosed(at: .seconds(1), random: 0)

        let asked = machine.woke(at: .seconds(3), random: 0)

        #expect(asked == .requestPermission)
    }

    /// Any sequence of events keeps what must hold in every state. The seed is in the message of a failure.
    @Test(arguments: UInt64(0)..<200)
    func randomWalk_keepsTheInvariants(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = ConnectionMachine(
            timing: ConnectionTiming(), isWanted: random.next() % 2 == 0, asksFirst: seed % 2 == 0)
        var now = MonotonicTime.seconds(0)
        var channelOpen = false
        for step in 0..<300 {
            now = now + .milliseconds(Int(random.next() % 3000))
            walk(&machine, &channelOpen, event: random.next() % 12, at: now, random: random.next())
            let linkStates: Set<ConnectionState> = [.connecting, .connected, .ready, .communicating, .dataAvailable]
            #expect(linkStates.contains(machine.state) == channelOpen, "seed \(seed) step \(step): \(machine.state)")
            #expect(machine.isWanted || !channelOpen, "seed \(seed) step \(step): a link that nobody wants")
            let mayWake = machine.isWanted && machine.isPresent
            #expect(mayWake || machine.nextWake == nil, "seed \(seed) step \(step): tried against a wish, or in vain")
            #expect(machine.isPresent || !channelOpen, "seed \(seed) step \(step): a link to nothing")
            let mustWake = machine.isWanted && machine.isPresent && !machine.awaitsPermission
            #expect(!mustWake || machine.nextWake != nil, "seed \(seed) step \(step): gave up in \(machine.state)")
        }
    }

    /// A moment that is due is dealt with: a driver that wakes the machine when it asks never spins.
    @Test(arguments: UInt64(0)..<100)
    func woke_alwaysMovesOn(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var machine = ConnectionMachine(timing: ConnectionTiming(), isWanted: true, asksFirst: seed % 2 == 0)
        var now = MonotonicTime.seconds(0)
        var channelOpen = false
        for step in 0..<200 {
            now = now + .milliseconds(Int(random.next() % 20_000))
            walk(&machine, &channelOpen, event: random.next() % 12, at: now, random: random.next())
            for _ in 0..<3 { walk(&machine, &channelOpen, event: 11, at: now, random: random.next()) }
            let next = machine.nextWake
            #expect(next.map { $0 > now } ?? true, "seed \(seed) step \(step): stuck in \(machine.state)")
        }
    }

    private func walk(
        _ machine: inout ConnectionMachine, _ channelOpen: inout Bool, event: UInt64, at now: MonotonicTime,
        random: UInt64
    ) {
        switch event {
        case 0: machine.appeared(at: now)
        case 1: if machine.vanished() == .closeChannel { channelOpen = false }
        case 2: machine.connectWanted(at: now)
        case 3: if machine.disconnectWanted() == .closeChannel { channelOpen = false }
        case 4 where channelOpen:
            if machine.channelOpened(at: now) == .closeChannel, machine.state != .connected {
                // Opened twice: the driver's second channel is the one to close.
                _ = machine.lineReady(at: now)
            }
        case 5: _ = machine.lineReady(at: now)
        case 6 where channelOpen:
            machine.channelClosed(at: now, random: random)
            channelOpen = false
        case 7:
            machine.requestSent(at: now)
            machine.frameReceived(at: now)
        case 8, 9: if machine.permitted(at: now) == .openChannel { channelOpen = true }
        case 10: if machine.permissionLost(at: now) == .closeChannel { channelOpen = false }
        default:
            switch machine.woke(at: now, random: random) {
            case .openChannel: channelOpen = true
            case .closeChannel: channelOpen = false
            case .requestPermission, .none: break
            }
        }
    }
}

struct BackoffTests {
    @Test func delay_doublesUpToTheCap_withinAFifth() {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(60))
        for (failures, middle) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1000, 60)] {
            for random in [UInt64(0), 199, 399, .max] {
                let delay = backoff.delay(afterFailures: failures, random: random)
                #expect(delay >= .seconds(middle) * 800 / 1000)
                #expect(delay < .seconds(middle) * 1200 / 1000)
            }
        }
    }

    @Test func delay_isSpreadInThousandths_andDoublesTwentyTimes() {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(10_000_000))
        for (random, thousandths) in [(0, 800), (1, 801), (200, 1000), (399, 1199), (400, 800)] as [(UInt64, Int)] {
            #expect(backoff.delay(afterFailures: 1, random: random) == .milliseconds(thousandths))
        }
        for (failures, seconds) in [(0, 1), (1, 1), (2, 2), (20, 1 << 19), (21, 1 << 20), (22, 1 << 20)] {
            #expect(backoff.delay(afterFailures: failures, random: 200) == .seconds(seconds), "\(failures)")
        }
    }
}
