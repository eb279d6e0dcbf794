import Domain
import Gateway
import SimulatedCloud

/// One meter at one host, as its session uses it: asks the keeper, opens a channel with its permission, and closes it.
final class MeterUser: @unchecked Sendable {
    private enum Channel { case closed, opening, open }

    private let meter: MeterID
    private unowned let run: HostRun
    private let keeper: LeaseKeeper
    private let policy: LeasePolicy
    private let bug: ProgramBug?
    private let name: String
    private(set) var isWanted = false
    private var permission: LinkPermission?
    private var channel = Channel.closed
    /// Counts permissions and ends of them, so that what was planned for an earlier one is recognised.
    private var number = 0

    init(of meter: MeterID, at run: HostRun, keeper: LeaseKeeper, policy: LeasePolicy, bug: ProgramBug?) {
        self.meter = meter
        self.run = run
        self.keeper = keeper
        self.policy = policy
        self.bug = bug
        name = run.name
        run.loop.perform {
            keeper.attach(meter) { [weak self, life = run.life] verdict in
                life.at(life.world.now) { self?.hear(verdict) }
            }
        }
    }

    private var world: World { run.life.world }

    /// Whether it may send something to the meter now.
    var mayTalk: Bool {
        guard channel != .closed, let permission else { return false }
        switch permission {
        case .unleased: return true
        case .leased(let permit):
            return permit.terms.policy == .keep || bug == .ignoresHardStop || run.loop.now < permit.hardStopAt
        }
    }

    // MARK: Wishes

    func want(_ wish: LeaseIntent) {
        isWanted = true
        guard channel == .closed, permission == nil else { return }
        world.note("\(name): wants \(meter), takeover \(wish.isTakeover), waits \(wish.waitsInLine)")
        run.loop.perform { keeper.ask(for: meter, wish, over: .usb, isUp: false) }
    }

    func letGo() {
        world.note("\(name): lets go of \(meter)")
        isWanted = false
        close(.letGo)
        run.loop.perform { keeper.cancel(meter) }
    }

    /// The meter is out of reach for a moment.
    func breakLink() {
        guard channel == .open else { return }
        world.note("\(name): the link to \(meter) breaks")
        close(.linkLost)
        wantAgain(after: 2 * .second)
    }

    private func wantAgain(after time: TrueTime) {
        run.life.at(world.some(time)) { [self] in
            if isWanted, channel == .closed, permission == nil { want(.resume) }
        }
    }

    // MARK: Verdicts

    private func hear(_ verdict: LinkVerdict) {
        switch verdict {
        case .permitted(let permission): permitted(permission)
        case .refused(let refusal):
            world.coverage.note(.refusal)
            world.note("\(name): \(meter) is refused: \(refusal.reason)")
        case .barred: world.note("\(name): \(meter) is for looking at only")
        case .withdrawn(let why): withdrawn(why)
        }
    }

    private func permitted(_ permission: LinkPermission) {
        let isNew = self.permission == nil
        self.permission = permission
        number += 1
        planHardStop()
        guard isNew || channel == .closed else { return }
        world.note("\(name): may use \(meter), \(permission.words)")
        channel = .opening
        run.life.at(world.some(400 * .millisecond)) { [self] in opened() }
    }

    private func opened() {
        guard channel == .opening else { return }
        guard !world.rng.happens(onceIn: 12) else {
            close(.attemptFailed)
            return wantAgain(after: 3 * .second)
        }
        channel = .open
        world.note("\(name): talks to \(meter)")
        run.loop.perform { keeper.linkUp(meter) }
    }

    private func planHardStop() {
        guard case .leased(let permit)? = permission, permit.terms.policy == .strict, bug != .ignoresHardStop else {
            return
        }
        let current = number
        _ = run.loop.schedule(at: permit.hardStopAt) { [self] in
            guard current == number, channel != .closed else { return }
            world.coverage.note(.hardStop)
            world.note("\(name): the hard stop of \(meter)")
            run.life.at(world.now) { [self] in
                guard current == number else { return }
                close(.letGo)
                wantAgain(after: 5 * .second)
            }
        }
    }

    private func withdrawn(_ why: String) {
        world.coverage.note(.withdrawal)
        world.note("\(name): \(meter) is withdrawn: \(why)")
        world.withdrawn(why, from: name)
        guard bug != .ignoresWithdrawal else { return run.loop.perform { keeper.channelClosed(meter, .letGo) } }
        let current = number
        run.life.at(world.now + TrueTime(world.rng.number(below: 300_000))) { [self] in
            guard current == number else { return }
            close(.letGo)
            wantAgain(after: 30 * .second)
        }
    }

    private func close(_ end: ChannelEnd) {
        guard permission != nil || channel != .closed else { return }
        number += 1
        (permission, channel) = (nil, .closed)
        run.loop.perform { keeper.channelClosed(meter, end) }
    }
}

extension LinkPermission {
    fileprivate var words: String {
        switch self {
        case .unleased: "without a lease"
        case .leased(let permit): "token \(permit.token.rawValue)"
        }
    }
}
