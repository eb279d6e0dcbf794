import CloudAPI
import Domain

/// What befalls hosts, cloud and the ways between, and how it ends.
extension Simulator {
    mutating func strike() {
        guard !isHealed else { return }
        queue.add(.fault, at: some(scenario.faultGap))
        let host = rng.number(below: hosts.count)
        if scenario.changesPolicy, !hasChangedPolicy, now > scenario.length / 3 { makeStrict() }
        if isTense, rng.happens(onceIn: 2) {
            cut(host)
            return
        }
        switch rng.number(below: 25) {
        case 0, 1: crash(host, reboots: false)
        case 2: crash(host, reboots: true)
        case 3, 4: pause(host)
        case 5, 6, 7: cut(host)
        case 8: for index in hosts.indices { cut(index) }
        case 9: if server.isUp { strikeServer(reboots: false) }
        case 10: if server.isUp { strikeServer(reboots: true) }
        case 11: pauseServer()
        case 12: stepWall(host)
        case 13: changeRate(host)
        case 14: killsHost = host
        case 15: killsServer = true
        case 16, 17: upheave()
        case 18, 19: trouble()
        case 20: repeatLate(rng.number(below: scenario.meters))
        case 21: wishInOutage(host)
        case 22: startIn2099(host)
        case 23: startServerIn2099()
        default: revoke(rng.number(below: scenario.meters))
        }
    }

    private mutating func strikeServer(reboots: Bool) {
        coverage.note(reboots ? .serverReboot : .serverCrash)
        crashServer(reboots: reboots)
    }

    /// - Parameter wallError: of its calendar after a reboot; nil: as it comes.
    mutating func crash(_ index: Int, reboots: Bool, wallError: Int64? = nil) {
        guard hosts[index].isUp else { return }
        note("\(hosts[index].name): \(reboots ? "reboots" : "crashes")")
        coverage.note(reboots ? .hostReboot : .hostCrash)
        if hosts[index].store.hasUnsynced { coverage.note(.unsyncedLost) }
        loseOpenCalls(index)
        hosts[index].store.crash(&rng)
        hosts[index].isUp = false
        hosts[index].isPaused = false
        server.streams[index] = nil
        relay.crashed(index)
        if reboots {
            let error = rng.happens(onceIn: 2) ? Scenario.wallError(&rng) : scenario.wallErrors[index]
            hosts[index].clock.reboot(wallError: wallError ?? error, at: now)
            hosts[index].isIn2099 = false
        }
        let away: TrueTime = rng.pick([3 * .second, 20 * .second, 2 * .minute, 15 * .minute]) ?? .second
        queue.add(.hostStarts(index), at: some(away))
    }

    private mutating func pause(_ index: Int) {
        guard hosts[index].isUp, !hosts[index].isPaused else { return }
        note("\(hosts[index].name): paused")
        coverage.note(.hostPause)
        hosts[index].isPaused = true
        queue.add(.hostResumes(index), at: now + 2 * .second + TrueTime(rng.number(below: 200_000_000)))
    }

    mutating func resume(_ index: Int) {
        guard hosts[index].isPaused else { return }
        note("\(hosts[index].name): resumed")
        hosts[index].isPaused = false
        hosts[index].wakeAt = nil
        let missed = hosts[index].deferred
        hosts[index].deferred = []
        for event in missed { queue.add(event, at: now) }
        scheduleWake(index)
    }

    private mutating func cut(_ index: Int) {
        let isOneWay = rng.happens(onceIn: 3)
        let isUp = !isOneWay || rng.happens(onceIn: 2)
        hosts[index].link.isUpCut = isUp
        hosts[index].link.isDownCut = !isOneWay || !isUp
        note("\(hosts[index].name): cut off\(isOneWay ? isUp ? " upwards" : " downwards" : "")")
        coverage.note(isOneWay ? .oneWayPartition : .partition)
        let length: TrueTime = rng.pick([5 * .second, 40 * .second, 4 * .minute, 20 * .minute]) ?? .second
        queue.add(.linkHeals(index), at: some(length))
    }

    mutating func healLink(_ index: Int) {
        guard hosts[index].link.isCut else { return }
        note("\(hosts[index].name): connected again")
        hosts[index].link.isUpCut = false
        hosts[index].link.isDownCut = false
        if hosts[index].isUp, !hosts[index].isPaused, rng.happens(onceIn: 2) {
            sync(index, .triggered(.networkGained))
            scheduleWake(index)
        }
    }

    private mutating func pauseServer() {
        guard server.isUp, !server.isPaused else { return }
        note("cloud: paused")
        coverage.note(.serverPause)
        server.isPaused = true
        queue.add(.serverResumes, at: now + .second + TrueTime(rng.number(below: 60_000_000)))
    }

    private mutating func stepWall(_ index: Int) {
        coverage.note(.wallStep)
        if rng.happens(onceIn: 3) {
            note("\(hosts[index].name): wall clock is set right")
            hosts[index].clock.setWall(at: now)
            return
        }
        let steps: [Int64] = [-86_400_000, -90_000, -3000, 3000, 90_000, 86_400_000 * 400]
        let step = rng.pick(steps) ?? 0
        note("\(hosts[index].name): wall clock steps \(step) ms")
        hosts[index].clock.stepWall(by: step)
    }

    private mutating func changeRate(_ index: Int) {
        coverage.note(.rateChange)
        hosts[index].clock.changeRate(to: scenario.hostRates[rng.number(below: hosts.count)], at: now)
        scheduleWake(index)
    }

    private mutating func upheave() {
        switch scenario.upheaval {
        case .none: break
        case .restore: restoreOrBackUp()
        case .storeGoesBack: copyOrPutBack()
        case .journey: journey(rng.number(below: hosts.count))
        }
    }

    /// As a file that is copied back while nobody looks, or a machine's snapshot.
    private mutating func copyOrPutBack() {
        guard let copy else {
            note("cloud: its store is copied")
            self.copy = server.store.value
            return
        }
        // At any moment, also just after an edit was acknowledged.
        if rng.happens(onceIn: 2) { putBack(copy) } else { putsBackSoon = true }
    }

    mutating func putBack(_ copy: CloudState) {
        putsBackSoon = false
        note("cloud: its store goes back")
        coverage.note(.storeWentBack)
        if server.isUp { crashServer(reboots: false) }
        hasRestored = true
        grants = grants.map { _ in [] }
        generation += 1
        server.store.replace(with: copy)
        self.copy = nil
        judge.storeWentBack(to: copy)
        for index in hosts.indices { keepProtection(of: index, by: copy) }
    }

    /// Leases that the copy knows as they are protect as before.
    private mutating func keepProtection(of index: Int, by copy: CloudState) {
        for meter in copy.leases.indices {
            guard case .leased(let permit)? = hosts[index].permissions[meter], let lease = copy.leases[meter],
                case .held(let holder) = lease.state, holder.session == hosts[index].store.value.session,
                lease.token == permit.token
            else { continue }
            hosts[index].decisions[meter]?.generation = generation
        }
    }

    /// `metercloud zone set --policy strict`, while hosts hold leases.
    private mutating func makeStrict() {
        note("cloud: the zone is strict from now on")
        coverage.note(.policyChanged)
        hasChangedPolicy = true
        isTense = true
        server.terms = server.terms.under(.strict)
    }

    /// A request whose grant is not the last one any more arrives again, from somewhere in the network.
    private mutating func repeatLate(_ meter: Int) {
        let present = server.store.value.leases[meter]?.token
        guard var call = rng.pick(grants[meter].filter { $0.isAnswered && $0.token != present })?.call else { return }
        coverage.note(.repeatedLate)
        call.isCopy = true
        call.isRepetition = true
        call.sentAt = now
        record(call, .failed(SyncFailure(.network, "a copy")), returnedAt: now)
        queue.add(.request(call), at: now + 1)
    }

    /// Somebody wants to take a meter over while the cloud cannot be reached.
    private mutating func wishInOutage(_ index: Int) {
        guard hosts[index].isUp, !hosts[index].isPaused, hosts[index].zone == 0 else { return }
        coverage.note(.wishInOutage)
        hosts[index].link.isUpCut = true
        hosts[index].link.isDownCut = true
        queue.add(.linkHeals(index), at: now + 20 * .second + TrueTime(rng.number(below: 60_000_000)))
        want(index, rng.number(below: scenario.meters), LeaseIntent(isTakeover: true, isAsked: true))
        scheduleWake(index)
    }

    // MARK: Calendars

    private mutating func startIn2099(_ index: Int) {
        guard hosts[index].isUp, !server.isIn2099 else { return }
        crash(index, reboots: true, wallError: Scenario.to2099)
        hosts[index].isIn2099 = true
        queue.add(.hostCalendarRight(index), at: some(15 * .minute))
    }

    mutating func setCalendarRight(_ index: Int) {
        guard hosts[index].isIn2099 else { return }
        note("\(hosts[index].name): its calendar is not in 2099 any more")
        hosts[index].isIn2099 = false
        hosts[index].clock.setWall(at: now)
    }

    /// Not beside a restore or a journey: tokens and stamps go on from 2099, and what of that is taken back is another
    /// matter.
    private mutating func startServerIn2099() {
        guard server.isUp, scenario.upheaval == .none, !hosts.contains(where: \.isIn2099) else { return }
        note("cloud: its calendar is in 2099")
        coverage.note(.serverIn2099)
        crashServer(reboots: true, wallError: Scenario.to2099)
        server.isIn2099 = true
        queue.add(.serverCalendarRight, at: some(10 * .minute))
    }

    mutating func setServerCalendarRight() {
        guard server.isIn2099 else { return }
        note("cloud: its calendar is not in 2099 any more")
        server.isIn2099 = false
        server.clock.setWall(at: now)
    }

    /// To another zone of the same cloud, or home from there. `meterctl cloud join` starts the host anew.
    private mutating func journey(_ index: Int) {
        guard hosts[index].isUp else { return }
        note("\(hosts[index].name): joins \(CloudZone.names[1 - hosts[index].zone])")
        coverage.note(hosts[index].zone == 0 ? .wentAway : .cameHome)
        crash(index, reboots: false)
        hosts[index].zone = 1 - hosts[index].zone
        hosts[index].store.commit { replica in
            for meter in replica.wants.indices { replica.wants[meter] = false }
        }
        hosts[index].store.sync()
    }

    private mutating func restoreOrBackUp() {
        guard let backup else {
            note("cloud: backed up")
            self.backup = server.store.value
            return
        }
        note("cloud: restored")
        coverage.note(.serverRestore)
        if server.isUp { crashServer(reboots: false) }
        hasRestored = true
        grants = grants.map { _ in [] }
        server.restore(backup, epoch: "e\(nextID())", at: now)
        self.backup = nil
    }

    private mutating func revoke(_ meter: Int) {
        guard server.isUp else { return }
        // Nobody waits for its answer, and a crash may take it back.
        let moment = Self.moment(now)
        judge.record(
            LeaseOperation(
                meter: "\(meter)", request: .revoke, outcome: .unknown, calledAt: moment, returnedAt: moment))
        server.revoke(meter, at: now)
    }

    private mutating func trouble() {
        let kinds: [SyncFailure.Kind] = [
            .rateLimited, .rateLimited, .serviceUnavailable, .serviceUnavailable, .notAuthenticated, .permissionDenied,
            .wrongCertificate, .other,
        ]
        let kind = rng.pick(kinds) ?? .other
        var failure = SyncFailure(kind, "\(kind)")
        if kind == .rateLimited { failure.retryAfter = .seconds(20) }
        server.trouble = failure
        server.troubleUntil = some(40 * .second)
    }

    // MARK: The end

    /// No fault from now on, and what is broken works again.
    mutating func healEverything() {
        note("everything is healed")
        isHealed = true
        (killsHost, killsServer) = (nil, false)
        server.troubleUntil = 0
        if !server.isUp { startServer() }
        if server.isPaused { resumeServer() }
        for index in hosts.indices {
            hosts[index].link.lossPermille = 0
            hosts[index].link.doublePermille = 0
            hosts[index].link.slowPermille = 0
            healLink(index)
            if !hosts[index].isUp { start(index) }
            resume(index)
            sync(index, .resumed)
            scheduleWake(index)
        }
        queue.add(.lookAtEnd, at: now + 5 * .second)
    }

    mutating func lookAtEnd() {
        guard let difference = hosts.indices.compactMap({ difference(of: $0) }).first else {
            coverage.note(.converged)
            judge.judgeEnd(
                server.store.value.zones.map { $0.records.mapValues(\.record) }, whereabouts: hosts.map(\.zone))
            isOver = true
            return
        }
        // The longest that anything waits is a back-off of five minutes and a poll after five.
        if now > scenario.length + 20 * .minute {
            judge.object("not converged 20 minutes after everything was healed: \(difference)")
        }
        // An answer that was under way when everything was healed may have halted a session; a person sees it.
        for index in hosts.indices {
            guard case .halted = hosts[index].sync.state.phase else { continue }
            sync(index, .resumed)
            scheduleWake(index)
        }
        queue.add(.lookAtEnd, at: now + 5 * .second)
    }

    /// What a host has otherwise than the cloud; nil: nothing. Tombstones may be gone on either side.
    private func difference(of index: Int) -> String? {
        let host = hosts[index]
        let replica = host.store.value
        if let waiting = replica.outbox.first { return "\(host.name) still has \(waiting.key.name) to tell" }
        let cloud = server.store.value.zones[host.zone].records
        let keys = Set(replica.records.keys).union(cloud.keys)
        for key in keys.sorted(by: { ($0.type.rawValue, $0.name) < ($1.type.rawValue, $1.name) }) {
            let mine = visible(replica.records[key])
            let theirs = visible(cloud[key]?.record)
            if mine != theirs, !judge.isExcused(key, at: index, in: host.zone) {
                return "\(host.name) has \(key.name) as \(mine), the cloud as \(theirs)"
            }
        }
        return nil
    }

    private func visible(_ record: SyncRecord?) -> [String: Register] {
        (record?.properties ?? [:]).filter { $0.key != SimulatedServer.poison }
    }
}
