import Domain

/// The lease keeper and the meters' sessions of a host.
extension Simulator {
    mutating func perform(_ action: LeaseMachine.Action, _ index: Int, _ meter: Int) {
        if action != .none { note("\(hosts[index].name): meter \(meter): \(action)") }
        switch action {
        case .sendAcquire(let again, let takeover): sendAcquire(index, meter, again: again, takeover: takeover)
        case .sendRenewal: sendRenewal(index)
        case .sendRelease(let token):
            let session = hosts[index].store.value.session
            if hosts[index].channels[meter] != .none {
                judge.object("\(hosts[index].name) releases meter \(meter) with an open channel")
            }
            send(.release(token, meter: meter, session: session), from: index)
        case .permit(let permit):
            coverage.note(.permit)
            hosts[index].permissions[meter] = .leased(permit)
            openChannel(index, meter)
        case .permitUnleased:
            coverage.note(.permitUnleased)
            // A link that is up already, from before the zone was strict, stays.
            if hosts[index].policy == .strict, hosts[index].channels[meter] == .none {
                judge.object("\(hosts[index].name) takes meter \(meter) without a lease under strict")
            }
            hosts[index].permissions[meter] = .unleased
            hosts[index].decisions[meter] = nil
            openChannel(index, meter)
        case .withdraw(let cause): withdraw(index, meter, cause)
        case .joinQueue: send(.enqueue(meter: meter), from: index)
        case .leaveQueue: send(.leaveQueue(meter: meter), from: index)
        // No host of these worlds is one that may only look.
        case .refuse, .bar: judge.object("\(hosts[index].name) does without a lease of meter \(meter)")
        case .none: break
        }
    }

    private mutating func sendAcquire(_ index: Int, _ meter: Int, again: Bool, takeover: FencingToken?) {
        let requestID = again ? hosts[index].requestIDs[meter] ?? RequestID(using: &rng) : RequestID(using: &rng)
        hosts[index].requestIDs[meter] = requestID
        judgeTakeover(takeover, index, meter)
        let host = hosts[index]
        let request = LeaseAcquire(
            requestID: requestID, host: host.id, hostName: host.name, session: host.store.value.session,
            previousSession: host.previousSession, timeToLive: scenario.terms.timeToLive, transport: .usb,
            policy: .keep, takeover: takeover, tokenFloor: host.leases[meter].greatestToken)
        hosts[index].acquireCalls[meter] = send(.acquire(request, meter: meter), from: index)
    }

    /// A person's intent to take a meter over is good for half a minute.
    private mutating func judgeTakeover(_ takeover: FencingToken?, _ index: Int, _ meter: Int) {
        guard takeover != nil else { return }
        let age = hosts[index].takeoverWishes[meter].map { hosts[index].clock.now(at: now) - $0 }
        if let age, age <= LeaseTiming.takeoverIntent { return }
        judge.object(
            "\(hosts[index].name) takes meter \(meter) over \(age.map { "\($0)" } ?? "") after anybody wished it")
    }

    private mutating func sendRenewal(_ index: Int) {
        let moment = hosts[index].clock.now(at: now)
        var leases: [(meter: Int, token: FencingToken)] = []
        for meter in hosts[index].leases.indices {
            guard let token = hosts[index].leases[meter].joinRenewal(at: moment, random: rng.next()) else { continue }
            leases.append((meter, token))
        }
        guard !leases.isEmpty else { return }
        if scenario.bug == .heartbeatOnce, let last = hosts[index].lastRenewal,
            moment - last < scenario.terms.heartbeat * 9 / 10
        {
            return
        }
        hosts[index].lastRenewal = moment
        send(.renew(leases, session: hosts[index].store.value.session), from: index)
    }

    private mutating func withdraw(_ index: Int, _ meter: Int, _ cause: LeaseMachine.Withdrawal) {
        switch cause {
        case .unwanted: coverage.note(.withdrawnUnwanted)
        case .revoked: coverage.note(.withdrawnRevoked)
        case .takenOver: coverage.note(.withdrawnTakenOver)
        case .hardStop: coverage.note(.withdrawnHardStop)
        case .unknown: coverage.note(.withdrawnUnknown)
        // No host of these worlds is one that may only look.
        case .barred: judge.object("\(hosts[index].name) may only look")
        }
        if scenario.kind == .oneLoss, cause == .hardStop {
            judge.object("\(hosts[index].name) lost the lease of meter \(meter) to one lost message")
        }
        // An exchange that is under way ends first, so it may talk until the channel is closed.
        let channel = nextID()
        hosts[index].channels[meter] = .closing(channel)
        queue.add(
            .channelClosed(host: index, run: hosts[index].run, meter: meter, channel: channel),
            at: now + TrueTime(1000 + rng.number(below: 500_000)))
    }

    // MARK: Channels

    private mutating func openChannel(_ index: Int, _ meter: Int) {
        switch hosts[index].channels[meter] {
        case .none:
            let channel = nextID()
            hosts[index].channels[meter] = .opening(channel)
            queue.add(
                .channelOpened(host: index, run: hosts[index].run, meter: meter, channel: channel),
                at: now + 200 * .millisecond + TrueTime(rng.number(below: 3_000_000)))
        case .opening, .open, .closing: break
        }
    }

    mutating func channelOpened(_ index: Int, _ meter: Int, _ channel: UInt64) {
        guard hosts[index].channels[meter] == .opening(channel) else { return }
        guard !rng.happens(onceIn: 10) else {
            end(index, meter, .attemptFailed)
            return
        }
        hosts[index].channels[meter] = .open(channel)
        hosts[index].leases[meter].linkUp()
        beginMeasuring(index, meter, channel)
    }

    mutating func channelClosed(_ index: Int, _ meter: Int, _ channel: UInt64) {
        guard hosts[index].channels[meter].id == channel else { return }
        switch hosts[index].channels[meter] {
        case .closing: end(index, meter, .letGo)
        case .open, .opening: end(index, meter, .linkLost)
        case .none: break
        }
    }

    private mutating func end(_ index: Int, _ meter: Int, _ end: ChannelEnd) {
        if end == .linkLost { coverage.note(.linkLost) }
        note("\(hosts[index].name): meter \(meter): channel ends, \(end)")
        hosts[index].channels[meter] = .none
        hosts[index].permissions[meter] = nil
        hosts[index].decisions[meter] = nil
        let moment = hosts[index].clock.now(at: now)
        perform(hosts[index].leases[meter].channelClosed(end, at: moment), index, meter)
        queue.add(
            .wantAgain(host: index, run: hosts[index].run, meter: meter),
            at: now + 500 * .millisecond + TrueTime(rng.number(below: 12_000_000)))
    }

    /// The session tries again by itself.
    mutating func wantAgain(_ index: Int, _ meter: Int) {
        guard hosts[index].store.value.wants[meter], hosts[index].channels[meter] == .none else { return }
        let moment = hosts[index].clock.now(at: now)
        perform(hosts[index].leases[meter].wanted(.resume, at: moment), index, meter)
    }

    // MARK: Time

    mutating func wake(_ index: Int) {
        let moment = hosts[index].clock.now(at: now)
        for meter in hosts[index].leases.indices {
            var turns = 0
            while let next = hosts[index].leases[meter].nextWake, next <= moment {
                perform(hosts[index].leases[meter].woke(at: moment, random: rng.next()), index, meter)
                turns += 1
                guard turns < 50 else {
                    judge.object("\(hosts[index].name)'s lease of meter \(meter) never rests")
                    return
                }
            }
            if scenario.kind == .oneLoss, hosts[index].leases[meter].phase(at: moment) == .lost {
                judge.object("\(hosts[index].name)'s lease of meter \(meter) ran out for one lost message")
            }
        }
        if let next = hosts[index].sync.nextWake, next <= moment { sync(index, .woke) }
        if hosts[index].wakeAt ?? 0 <= now { hosts[index].wakeAt = nil }
    }
}
