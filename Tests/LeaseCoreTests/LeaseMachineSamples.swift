import Domain

extension LeaseView {
    /// A lease of host 1 unless another is named, as it was just granted.
    static func of(
        token: FencingToken, _ policy: LeasePolicy = .keep, state: State = .held, holder: UInt64 = 1,
        remaining: Duration = .seconds(120)
    ) -> LeaseView {
        LeaseView(
            meter: .meter, state: state, holder: .of(holder), holderName: "pi\(holder)", token: token,
            terms: .standard(policy), transport: .usb, acquiredAt: nil, remaining: remaining)
    }

    static func free(token: FencingToken) -> LeaseView {
        LeaseView(
            meter: .meter, state: .free, holder: nil, holderName: nil, token: token, terms: .standard(.keep),
            transport: nil, acquiredAt: nil, remaining: .zero)
    }
}

extension LeaseMachine {
    /// Holds token 1, asked for and granted at 0, with a permit out.
    static func held(_ policy: LeasePolicy, random: UInt64 = 0) -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: policy)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.granted(.of(token: 1, policy), sentAt: .seconds(0), at: .seconds(0), random: random)
        return machine
    }

    /// Was refused at 1 s: host 2 has it.
    static func refused(retryAfter: Duration = .seconds(130)) -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.refused(.held, .of(token: 4, holder: 2), retryAfter: retryAfter, at: .seconds(1), random: 200)
        return machine
    }

    /// Uses a link without a lease since 3 s.
    static func unleased() -> LeaseMachine {
        var machine = LeaseMachine(host: .of(1), policy: .keep)
        _ = machine.wanted(.resume, at: .seconds(0))
        _ = machine.requestFailed(at: .seconds(1), random: 0)
        _ = machine.woke(at: .seconds(2), random: 0)
        _ = machine.requestFailed(at: .seconds(3), random: 0)
        return machine
    }

    /// Wakes it as a driver does, and says what it wanted done. A heartbeat fails at once.
    mutating func wokeUntilQuiet(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for _ in 0..<10 {
            guard let nextWake, nextWake <= now else { break }
            let action = woke(at: now, random: 0)
            if action == .sendRenewal {
                _ = joinRenewal(at: now, random: 0)
                _ = renewalFailed(at: now)
            }
            if action != .none { actions.append(action) }
        }
        return actions
    }
}
