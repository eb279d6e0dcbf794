import CoreTestKit
import Domain
import Testing

/// Hosts and the authority over virtual time, with messages that are late, lost or come twice.
struct TwoHostsTests {
    @Test(arguments: UInt64(0)..<40)
    func strict_neverLetsTwoHostsTalkToOneMeter(seed: UInt64) {
        var world = World(policy: .strict, seed: seed, hostCount: 3)
        world.run(for: .seconds(2 * 3600))

        #expect(world.overlaps == 0, "seed \(seed)")
        #expect(world.grants > 5, "seed \(seed): too little happened to prove anything")
        #expect(world.tokensFell == 0, "seed \(seed)")
    }

    /// The check can fail: a holder that goes on past its hard stop meets the next one.
    @Test func strict_isBrokenByAHolderThatDoesNotStop() {
        let broken = (UInt64(0)..<20).contains { seed in
            var world = World(policy: .strict, seed: seed, hostCount: 3)
            world.heedsHardStop = false
            world.run(for: .seconds(2 * 3600))
            return world.overlaps > 0
        }
        #expect(broken)
    }

    /// Rule 1.
    @Test(arguments: LeasePolicy.allCases, Array(UInt64(0)..<20))
    func oneLostMessageAtATime_neverCostsTheLease(policy: LeasePolicy, seed: UInt64) {
        var world = World(policy: policy, seed: seed, hostCount: 1)
        world.losesEveryOther = true
        world.run(for: .seconds(2 * 3600))

        #expect(world.grants == 1, "seed \(seed)")
        #expect(world.jeopardies == 0, "seed \(seed)")
    }
}

/// The smallest cloud: one meter, instant rules, and a network ruled by chance.
private struct World {
    struct Host {
        let id: UInt64
        var machine: LeaseMachine
        var request: UInt64 = 0
        var permit: LeasePermit?
        var isOpen = false
        /// The host is cut off until then.
        var isolatedUntil = MonotonicTime.origin
    }

    enum Message {
        case acquire(LeaseAcquire, sentAt: MonotonicTime)
        case renew(FencingToken, sentAt: MonotonicTime)
        case release(FencingToken)
        case answer(LeaseAnswer, sentAt: MonotonicTime)
        case renewal(LeaseRenewal, FencingToken, sentAt: MonotonicTime)
        case released(FencingToken)
        case event(LeaseRecord)
    }

    var authority: Authority
    var hosts: [Host]
    var inTransit: [(at: MonotonicTime, host: Int, message: Message)] = []
    var rng: SeededRNG
    var now = MonotonicTime.origin
    var heedsHardStop = true
    var losesEveryOther = false
    private var sentCount = 0
    private var nextSecond = MonotonicTime.origin
    private(set) var overlaps = 0
    private(set) var grants = 0
    private(set) var tokensFell = 0
    private(set) var jeopardies = 0
    private let policy: LeasePolicy

    init(policy: LeasePolicy, seed: UInt64, hostCount: Int) {
        self.policy = policy
        authority = Authority(policy)
        rng = SeededRNG(seed: seed)
        hosts = (1...hostCount).map { number in
            Host(id: UInt64(number), machine: LeaseMachine(host: .of(UInt64(number)), policy: policy))
        }
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while now < end {
            let wakes = hosts.flatMap { [$0.machine.nextWake, $0.permit?.hardStopAt] }.compactMap { $0 }
            let moments = (wakes + inTransit.map(\.at)).filter { $0 > now } + [nextSecond]
            now = moments.min() ?? end
            deliver()
            for index in hosts.indices {
                wake(index)
                guard now >= nextSecond else { continue }
                if !losesEveryOther { misbehave(index) } else if !hosts[index].isOpen { want(index) }
            }
            if now >= nextSecond { nextSecond = now + .seconds(1) }
            check()
        }
    }

    private mutating func check() {
        let talking = hosts.filter(\.isOpen)
        if talking.count > 1 { overlaps += 1 }
        for host in talking where host.machine.phase(at: now) == .jeopardy { jeopardies += 1 }
    }

    private mutating func want(_ index: Int) {
        let isTakeover = !losesEveryOther && rng.oneIn(5)
        perform(
            hosts[index].machine.wanted(LeaseIntent(isTakeover: isTakeover, isAsked: isTakeover), at: now), index)
    }

    /// What people and radios do.
    private mutating func misbehave(_ index: Int) {
        switch rng.next() % 400 {
        case 0..<8: if !hosts[index].isOpen { want(index) }
        case 8: if hosts[index].isOpen { close(index, .linkLost) }
        case 9: if hosts[index].isOpen { close(index, .letGo) }
        case 10 where rng.oneIn(4): hosts[index].isolatedUntil = now + .seconds(Int(rng.next() % 400))
        default: break
        }
    }

    private mutating func close(_ index: Int, _ end: ChannelEnd) {
        hosts[index].isOpen = false
        hosts[index].permit = nil
        perform(hosts[index].machine.channelClosed(end, at: now), index)
    }

    /// The session's own hard stop comes first, as the machine may be late.
    private mutating func wake(_ index: Int) {
        if let permit = hosts[index].permit, permit.terms.policy == .strict, now >= permit.hardStopAt {
            guard heedsHardStop else { return }
            close(index, .letGo)
        }
        // A task that hangs now and then for a while.
        guard !rng.oneIn(10) else { return }
        while let next = hosts[index].machine.nextWake, next <= now {
            perform(hosts[index].machine.woke(at: now, random: rng.next()), index)
        }
    }

    private mutating func perform(_ action: LeaseMachine.Action, _ index: Int) {
        switch action {
        case .sendAcquire(let again, let takeover):
            if !again { hosts[index].request += 1 }
            let request = LeaseAcquire.of(
                hosts[index].id, request: hosts[index].request, policy: policy, takeover: takeover,
                floor: hosts[index].machine.greatestToken)
            send(.acquire(request, sentAt: now), index)
        case .sendRenewal:
            guard let token = hosts[index].machine.joinRenewal(at: now, random: rng.next()) else { return }
            send(.renew(token, sentAt: now), index)
        case .sendRelease(let token):
            send(.release(token), index)
        case .permit(let permit):
            if permit.token < hosts[index].permit?.token ?? permit.token { tokensFell += 1 }
            hosts[index].permit = permit
            hosts[index].isOpen = true
        case .permitUnleased:
            hosts[index].isOpen = true
        case .withdraw:
            close(index, .letGo)
        case .refuse, .bar, .joinQueue, .leaveQueue, .none:
            break
        }
    }

    private mutating func send(_ message: Message, _ index: Int) {
        sentCount += 1
        if losesEveryOther {
            if sentCount % 2 == 1 { inTransit.append((now + .milliseconds(50), index, message)) }
            return
        }
        guard now >= hosts[index].isolatedUntil, !rng.oneIn(8) else { return }
        let copies = rng.oneIn(10) ? 2 : 1
        for _ in 0..<copies {
            let delay = rng.oneIn(10) ? rng.next() % 60_000 : rng.next() % 300
            inTransit.append((now + .milliseconds(Int(delay)), index, message))
        }
    }

    private mutating func deliver() {
        let due = inTransit.filter { $0.at <= now }.sorted { $0.at < $1.at }
        inTransit.removeAll { $0.at <= now }
        for (_, index, message) in due { receive(message, index) }
    }

    private mutating func receive(_ message: Message, _ index: Int) {
        let before = authority.record
        let session = hosts[index].id
        switch message {
        case .acquire(let request, let sentAt):
            reply(.answer(authority.acquire(request, at: now), sentAt: sentAt), index)
        case .renew(let token, let sentAt):
            reply(.renewal(authority.renew(token, session: session, at: now), token, sentAt: sentAt), index)
        case .release(let token):
            _ = authority.release(token, session: session)
            reply(.released(token), index)
        case .answer, .renewal, .released, .event:
            hear(message, index)
        }
        guard let record = authority.record, record.state != before?.state else { return }
        if record.token != before?.token { grants += 1 }
        if record.token < before?.token ?? record.token { tokensFell += 1 }
        for other in hosts.indices { reply(.event(record), other) }
    }

    private mutating func reply(_ message: Message, _ index: Int) {
        if losesEveryOther {
            inTransit.append((now + .milliseconds(50), index, message))
        } else {
            send(message, index)
        }
    }

    private mutating func hear(_ message: Message, _ index: Int) {
        let random = rng.next()
        switch message {
        case .answer(.granted(let record), let sentAt):
            perform(hosts[index].machine.granted(view(record), sentAt: sentAt, at: now, random: random), index)
        case .answer(.refused(let refusal), _):
            perform(
                hosts[index].machine.refused(
                    refusal.reason, refusal.record.map(view), retryAfter: refusal.retryAfter, at: now, random: random),
                index)
        case .renewal(.renewed(let record), _, let sentAt):
            perform(hosts[index].machine.renewed(view(record), sentAt: sentAt, at: now, random: random), index)
        case .renewal(.lost(let loss, let record), let token, _):
            perform(
                hosts[index].machine.renewalLost(loss, of: token, record.map(view), at: now, random: random), index)
        case .released(let token):
            perform(hosts[index].machine.released(token, at: now), index)
        case .event(let record):
            perform(hosts[index].machine.leaseSeen(view(record), at: now, random: random), index)
        case .acquire, .renew, .release:
            break
        }
    }

    private func view(_ record: LeaseRecord) -> LeaseView { LeaseView(record, of: .meter, at: now) }
}
