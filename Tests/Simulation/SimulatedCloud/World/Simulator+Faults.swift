import LeaseCore
import MeterModel
import SettingsCore
import SyncCore

/// What befalls hosts, cloud and the ways between, and how it ends.
extension Simulator {
    mutating func strike() {
        guard !isHealed else { return }
        queue.add(.fault, at: some(scenario.faultGap))
        let host = dice.number(below: hosts.count)
        if scenario.kind == .edge, dice.happens(onceIn: 2) {
            cut(host)
            return
        }
        switch dice.number(below: 20) {
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
        case 16: restoreOrBackUp()
        case 17, 18: trouble()
        default: revoke(dice.number(below: scenario.meters))
        }
    }

    private mutating func strikeServer(reboots: Bool) {
        coverage.note(reboots ? .serverReboot : .serverCrash)
        crashServer(reboots: reboots)
    }

    mutating func crash(_ index: Int, reboots: Bool) {
        guard hosts[index].isUp else { return }
        note("\(hosts[index].name): \(reboots ? "reboots" : "crashes")")
        coverage.note(reboots ? .hostReboot : .hostCrash)
        if hosts[index].store.hasUnsynced { coverage.note(.unsyncedLost) }
        loseOpenCalls(index)
        hosts[index].store.crash(&dice)
        hosts[index].isUp = false
        hosts[index].isPaused = false
        server.streams[index] = nil
        if reboots {
            let error = dice.happens(onceIn: 2) ? Scenario.wallError(&dice) : scenario.wallErrors[index]
            hosts[index].clock.reboot(wallError: error, at: now)
        }
        let away: TrueTime = dice.pick([3 * .second, 20 * .second, 2 * .minute, 15 * .minute]) ?? .second
        queue.add(.hostStarts(index), at: some(away))
    }

    private mutating func pause(_ index: Int) {
        guard hosts[index].isUp, !hosts[index].isPaused else { return }
        note("\(hosts[index].name): paused")
        coverage.note(.hostPause)
        hosts[index].isPaused = true
        queue.add(.hostResumes(index), at: now + 2 * .second + TrueTime(dice.number(below: 200_000_000)))
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
        let isOneWay = dice.happens(onceIn: 3)
        let isUp = !isOneWay || dice.happens(onceIn: 2)
        hosts[index].link.isUpCut = isUp
        hosts[index].link.isDownCut = !isOneWay || !isUp
        note("\(hosts[index].name): cut off\(isOneWay ? isUp ? " upwards" : " downwards" : "")")
        coverage.note(isOneWay ? .oneWayPartition : .partition)
        let length: TrueTime = dice.pick([5 * .second, 40 * .second, 4 * .minute, 20 * .minute]) ?? .second
        queue.add(.linkHeals(index), at: some(length))
    }

    mutating func healLink(_ index: Int) {
        guard hosts[index].link.isCut else { return }
        note("\(hosts[index].name): connected again")
        hosts[index].link.isUpCut = false
        hosts[index].link.isDownCut = false
        if hosts[index].isUp, !hosts[index].isPaused, dice.happens(onceIn: 2) {
            sync(index, .triggered(.networkGained))
            scheduleWake(index)
        }
    }

    private mutating func pauseServer() {
        guard server.isUp, !server.isPaused else { return }
        note("cloud: paused")
        coverage.note(.serverPause)
        server.isPaused = true
        queue.add(.serverResumes, at: now + .second + TrueTime(dice.number(below: 60_000_000)))
    }

    private mutating func stepWall(_ index: Int) {
        coverage.note(.wallStep)
        if dice.happens(onceIn: 3) {
            note("\(hosts[index].name): wall clock is set right")
            hosts[index].clock.setWall(at: now)
            return
        }
        let steps: [Int64] = [-86_400_000, -90_000, -3000, 3000, 90_000, 86_400_000 * 400]
        let step = dice.pick(steps) ?? 0
        note("\(hosts[index].name): wall clock steps \(step) ms")
        hosts[index].clock.stepWall(by: step)
    }

    private mutating func changeRate(_ index: Int) {
        coverage.note(.rateChange)
        hosts[index].clock.changeRate(to: scenario.hostRates[dice.number(below: hosts.count)], at: now)
        scheduleWake(index)
    }

    private mutating func restoreOrBackUp() {
        guard scenario.mayRestore else { return }
        guard let backup else {
            note("cloud: backed up")
            self.backup = server.store.value
            return
        }
        note("cloud: restored")
        coverage.note(.serverRestore)
        if server.isUp { crashServer(reboots: false) }
        hasRestored = true
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
        let kind = dice.pick(kinds) ?? .other
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
            judge.judgeEnd(server.store.value)
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
        let cloud = server.store.value.records
        let keys = Set(replica.records.keys).union(cloud.keys)
        for key in keys.sorted(by: { ($0.type.rawValue, $0.name) < ($1.type.rawValue, $1.name) }) {
            let mine = visible(replica.records[key])
            let theirs = visible(cloud[key]?.record)
            if mine != theirs, !judge.isExcused(key, at: index) {
                return "\(host.name) has \(key.name) as \(mine), the cloud as \(theirs)"
            }
        }
        return nil
    }

    private func visible(_ record: Record?) -> [String: Register] {
        (record?.properties ?? [:]).filter { $0.key != SimulatedServer.poison }
    }
}
