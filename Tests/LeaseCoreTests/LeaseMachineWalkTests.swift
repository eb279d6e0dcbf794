import CoreTestKit
import Domain
import Testing

/// Any sequence of events keeps what must always hold. The seed is in the message of a failure.
struct LeaseMachineWalkTests {
    @Test(arguments: LeasePolicy.allCases, Array(UInt64(0)..<100))
    func randomWalk_keepsTheInvariants(policy: LeasePolicy, seed: UInt64) {
        var walk = LeaseWalk(policy: policy, seed: seed)
        for step in 0..<300 {
            walk.step()
            guard let fault = walk.fault else { continue }
            Issue.record("\(policy.rawValue) seed \(seed) step \(step): \(fault)")
            return
        }
    }

    /// After whatever happened, a host that nobody wants the meter of comes to rest with no channel open.
    @Test(arguments: LeasePolicy.allCases, Array(UInt64(0)..<60))
    func unwanted_alwaysEndsIdle(policy: LeasePolicy, seed: UInt64) {
        var walk = LeaseWalk(policy: policy, seed: seed)
        for _ in 0..<200 { walk.step() }
        walk.letGo()

        #expect(walk.machine.nextWake == nil, "seed \(seed)")
        #expect(walk.machine.phase(at: walk.now) == .none, "seed \(seed)")
        #expect(!walk.isOpen, "seed \(seed)")
        #expect(walk.fault == nil, "seed \(seed): \(walk.fault ?? "")")
    }
}

/// A driver that does what the machine says, and everything else at random.
private struct LeaseWalk {
    let policy: LeasePolicy
    var machine: LeaseMachine
    var rng: SeededRNG
    var now = MonotonicTime.seconds(1000)
    /// A permit is out and the channel was not closed since.
    var isOpen = false
    var lastPermit: LeasePermit?
    var token = FencingToken(rawValue: 1)
    /// When a person last wanted the meter from whoever has it.
    var insistedAt: MonotonicTime?
    var role = HostRole.full
    var fault: String?

    init(policy: LeasePolicy, seed: UInt64) {
        self.policy = policy
        rng = SeededRNG(seed: seed)
        machine = LeaseMachine(host: .of(1), policy: policy)
    }

    mutating func step() {
        now = now + .milliseconds(Int(rng.oneIn(20) ? rng.next() % 200_000 : rng.next() % 8000))
        wake()
        perform(event())
        wake()
    }

    /// Nobody wants it, and the authority answers.
    mutating func letGo() {
        perform(machine.unwanted(at: now))
        if isOpen { close(.letGo) }
        for _ in 0..<200 where machine.nextWake != nil {
            now = max(now, machine.nextWake ?? now)
            wake()
            if let releasing { perform(machine.released(releasing, at: now)) }
        }
    }

    private var releasing: FencingToken?

    private mutating func event() -> LeaseMachine.Action {
        let sentAt = now - .milliseconds(Int(rng.next() % 6000))
        if rng.oneIn(3) { token = FencingToken(rawValue: token.rawValue + rng.next() % 2) }
        let view = LeaseView.of(token: token, policy, holder: rng.next() % 2 + 1)
        let random = rng.next()
        if rng.oneIn(40) {
            role = role == .full ? .readOnly : .full
            return machine.roleIs(role, at: now)
        }
        switch rng.next() % 17 {
        case 0, 1:
            let intent = LeaseIntent(isTakeover: rng.oneIn(3), waitsInLine: rng.oneIn(3), isAsked: rng.oneIn(2))
            if intent.isTakeover { insistedAt = now }
            return machine.wanted(intent, at: now)
        case 2: return machine.unwanted(at: now)
        case 3, 4: return machine.granted(.of(token: token, policy), sentAt: sentAt, at: now, random: random)
        case 5: return machine.refused(.held, view, retryAfter: .seconds(50), at: now, random: random)
        case 6: return machine.requestFailed(at: now, random: random)
        case 7, 8: return machine.renewed(.of(token: token, policy), sentAt: sentAt, at: now, random: random)
        case 9: return machine.renewalFailed(at: now)
        case 10:
            let losses = [LeaseRenewal.Loss.takenOver, .revoking, .released, .unknown]
            return machine.renewalLost(losses[Int(random % 4)], of: token, view, at: now, random: random)
        case 11: return machine.releaseFailed(token, at: now, random: random)
        case 12: return machine.released(token, at: now)
        case 13: return machine.offered(at: now)
        case 14: return machine.leaseSeen(rng.oneIn(2) ? .free(token: token) : view, at: now, random: random)
        case 15:
            machine.cloudReached(at: now, random: random)
            machine.linkUp()
            if rng.oneIn(3) { machine.queueLost() }
            return isOpen ? .none : machine.foundOpen(.resume, at: now)
        default:
            if isOpen { close([ChannelEnd.attemptFailed, .linkLost, .letGo][Int(random % 3)]) }
            return .none
        }
    }

    private mutating func close(_ end: ChannelEnd) {
        isOpen = false
        perform(machine.channelClosed(end, at: now))
    }

    /// As often as the machine asks for it.
    private mutating func wake() {
        var rounds = 0
        while let next = machine.nextWake, next <= now {
            rounds += 1
            guard rounds < 20 else {
                fault = fault ?? "does not come to rest in \(machine.phase(at: now))"
                return
            }
            perform(machine.woke(at: now, random: rng.next()))
        }
    }

    private mutating func perform(_ action: LeaseMachine.Action) {
        switch action {
        case .permit(let permit):
            check(now < permit.hardStopAt, "a permit after its hard stop")
            check(permit.token >= lastPermit?.token ?? permit.token, "the token went down")
            check(machine.permit == permit, "a permit for what is not held")
            lastPermit = permit
            isOpen = true
        case .permitUnleased:
            check(policy == .keep, "unleased under strict")
            isOpen = true
        case .withdraw:
            close(.letGo)
        case .sendRelease(let token):
            check(!isOpen, "released while the channel is open")
            check(machine.permit == nil, "released what is held")
            releasing = token
        case .sendRenewal:
            check(machine.joinRenewal(at: now, random: rng.next()) != nil, "a heartbeat is due for nothing")
        case .sendAcquire where role == .readOnly:
            check(false, "a request for a lease by a host that may only look")
        case .sendAcquire(_, .some):
            check(
                insistedAt.map { now < $0 + LeaseTiming.takeoverIntent } ?? false, "a take-over that nobody wants now")
        case .refuse, .bar:
            check(role == .readOnly, "refused without having asked")
            check(!isOpen, "refused while a link is open")
        case .sendAcquire, .joinQueue, .leaveQueue, .none:
            break
        }
        let isStrictlyOver = isOpen && policy == .strict && (machine.permit.map { $0.hardStopAt <= now } ?? true)
        check(!isStrictlyOver || machine.nextWake.map { $0 <= now } ?? false, "open past its end under strict")
    }

    private mutating func check(_ holds: Bool, _ what: String) {
        if !holds { fault = fault ?? "\(what), in \(machine.phase(at: now))" }
    }
}
