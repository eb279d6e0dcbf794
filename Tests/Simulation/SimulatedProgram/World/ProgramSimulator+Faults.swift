import Domain
import Gateway
import SimulatedCloud

/// What befalls hosts, cloud and the ways between.
extension ProgramSimulator {
    mutating func strike() throws {
        guard !isHealed else { return }
        plan(.fault, at: world.some(scenario.faultGap))
        let host = hosts[world.rng.number(below: hosts.count)]
        switch world.rng.number(below: 20) {
        case 0, 1, 2: try crash(host, reboots: false)
        case 3: try crash(host, reboots: true)
        case 4, 5: pause(host)
        case 6, 7, 8: cut(host)
        case 9: for host in hosts { cut(host) }
        case 10, 11: try crashCloud(reboots: false)
        case 12: try crashCloud(reboots: true)
        case 13: pauseCloud()
        case 14: stepWall(host)
        case 15: changeRate(host)
        case 16: stop(host)
        case 17: revoke()
        default: breakLinks(of: host)
        }
    }

    private mutating func crash(_ host: HostMachine, reboots: Bool) throws {
        guard host.run != nil else { return }
        world.coverage.note(reboots ? .hostReboot : .hostCrash)
        try host.crash(reboots: reboots)
        let away: TrueTime = world.rng.pick([2 * .second, 10 * .second, 90 * .second]) ?? .second
        plan(.start(host.index), at: world.some(away))
    }

    /// In its own time, and killed where that is too long.
    private mutating func stop(_ host: HostMachine) {
        guard let run = host.run, !run.life.isPaused, !run.isStopping else { return }
        world.coverage.note(.hostStop)
        world.note("\(host.name): is stopped")
        run.stop()
        plan(.end(host.index), at: world.now + 10 * .second)
        plan(.start(host.index), at: world.some(20 * .second) + 10 * .second)
    }

    private mutating func revoke() {
        guard cloud.life?.isPaused == false, let meter = world.rng.pick(meters) else { return }
        world.coverage.note(.revocation)
        cloud.revoke(meter)
    }

    private mutating func pause(_ host: HostMachine) {
        guard let life = host.run?.life, !life.isPaused else { return }
        world.coverage.note(.hostPause)
        world.note("\(host.name): paused")
        life.pause()
        plan(.resume(host.index), at: world.some(50 * .second))
    }

    private mutating func cut(_ host: HostMachine) {
        let isOneWay = world.rng.happens(onceIn: 3)
        let isUp = !isOneWay || world.rng.happens(onceIn: 2)
        world.coverage.note(isOneWay ? .oneWayCut : .cut)
        world.note("\(host.name): cut off, \(isOneWay ? isUp ? "upwards" : "downwards" : "both ways")")
        host.link.isUpCut = isUp
        host.link.isDownCut = !isOneWay || !isUp
        let length: TrueTime = world.rng.pick([5 * .second, 40 * .second, 3 * .minute]) ?? .second
        plan(.healLink(host.index), at: world.some(length))
    }

    func healLink(_ index: Int) {
        guard hosts[index].link.isCut else { return }
        world.note("\(hosts[index].name): connected again")
        hosts[index].link.isUpCut = false
        hosts[index].link.isDownCut = false
        if world.rng.happens(onceIn: 2) { hosts[index].run?.engine?.trigger(.networkGained) }
    }

    private mutating func crashCloud(reboots: Bool) throws {
        guard cloud.life != nil else { return }
        world.coverage.note(reboots ? .cloudReboot : .cloudCrash)
        try cloud.crash(reboots: reboots)
        plan(.startCloud, at: world.some(world.rng.pick([.second, 10 * .second, .minute]) ?? .second))
    }

    private mutating func pauseCloud() {
        guard let life = cloud.life, !life.isPaused else { return }
        world.coverage.note(.cloudPause)
        world.note("cloud: paused")
        life.pause()
        plan(.resumeCloud, at: world.some(15 * .second))
    }

    private mutating func stepWall(_ host: HostMachine) {
        world.coverage.note(.wallStep)
        let steps: [Int64] = [-86_400_000, -90_000, -3000, 3000, 90_000, 86_400_000 * 400]
        let step = world.rng.pick(steps) ?? 0
        world.note("\(host.name): its calendar steps by \(step) ms")
        if world.rng.happens(onceIn: 3) { host.setWall() } else { host.stepWall(by: step) }
    }

    private mutating func changeRate(_ host: HostMachine) {
        world.coverage.note(.rateChange)
        host.changeRate(to: scenario.hostRates[world.rng.number(below: hosts.count)])
    }

    private mutating func breakLinks(of host: HostMachine) {
        guard let run = host.run, !run.life.isPaused else { return }
        world.coverage.note(.linkBreak)
        for user in run.users { user.breakLink() }
    }

    // MARK: Users

    mutating func userActs(_ index: Int) {
        guard !isHealed else { return }
        plan(.user(index), at: world.some(scenario.userGap))
        guard let run = hosts[index].run, !run.life.isPaused, !run.isStopping,
            let meter = world.rng.pick(meters)
        else { return }
        let user = world.rng.pick(run.users)
        switch world.rng.number(below: 12) {
        case 0, 1, 2:
            lastValue += 1
            world.coverage.note(.setting)
            run.change(meter, to: lastValue, deletes: false)
        case 3:
            world.coverage.note(.deletion)
            run.change(meter, to: 0, deletes: true)
        case 4, 5, 6: user?.want(LeaseIntent(isAsked: true))
        case 7:
            world.coverage.note(.takeover)
            user?.want(LeaseIntent(isTakeover: true, isAsked: true))
        case 8, 9:
            world.coverage.note(.queueing)
            user?.want(LeaseIntent(waitsInLine: true, isAsked: true))
        case 10: user?.letGo()
        default: run.engine?.trigger(.asked)
        }
    }
}
