package import MeterModel

extension LeaseMachine {
    /// Time has passed. Harmless at any moment; to be called again as long as `nextWake` is not after now.
    package mutating func woke(at now: MonotonicTime, random: UInt64) -> Action {
        switch state {
        case .idle, .stopping:
            return .none
        case .seeking(let seeking):
            switch seeking.request {
            case .waiting(let until) where now >= until: return ask(seeking, at: now)
            case .inFlight(let until) where now >= until: return requestFailed(at: now, random: random)
            case .waiting, .inFlight: return .none
            }
        case .held(let holding):
            return woke(holding, at: now)
        case .releasing(let releasing):
            switch releasing.request {
            case .waiting(let until) where now >= until: return send(releasing, at: now)
            case .inFlight(let until) where now >= until: return releaseFailed(releasing.token, at: now, random: random)
            case .waiting, .inFlight: return .none
            }
        }
    }

    private mutating func woke(_ holding: Holding, at now: MonotonicTime) -> Action {
        var holding = holding
        if now >= holding.permit.hardStopAt, !holding.isLost {
            guard holding.permit.terms.policy == .keep, policy == .keep, holding.isOpen else {
                return end(holding, because: .hardStop, at: now)
            }
            holding.isLost = true
            state = .held(holding)
            return .none
        }
        if case .closed(let keptUntil) = holding.channel, now >= keptUntil {
            return release(holding, intent: nil, at: now)
        }
        return now >= holding.renewAt ? .sendRenewal : .none
    }

    /// When `woke` has something to do next. Nil while only an event can change anything.
    package var nextWake: MonotonicTime? {
        switch state {
        case .idle, .stopping:
            return nil
        case .seeking(let seeking):
            return seeking.request.time
        case .held(let holding):
            let stop = holding.isLost ? nil : holding.permit.hardStopAt
            let graceEnd: MonotonicTime? = if case .closed(let keptUntil) = holding.channel { keptUntil } else { nil }
            return [holding.renewAt, stop, graceEnd].compactMap { $0 }.min()
        case .releasing(let releasing):
            return releasing.request.time
        }
    }
}

extension LeaseMachine.Request {
    fileprivate var time: MonotonicTime {
        switch self {
        case .inFlight(let until), .waiting(let until): until
        }
    }
}
