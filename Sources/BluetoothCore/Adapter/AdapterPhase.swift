import Domain

enum AdapterPhase: Hashable, Sendable {
    case settingUp
    case running
    case recovering(Recovery)
    /// Switched off by another program, a person or rfkill. Nil means until rfkill releases the adapter.
    case off(until: MonotonicTime?)
    case forbidden(until: MonotonicTime)

    enum Recovery: Hashable, Sendable {
        case switchingOff
        case switchingOn
        case resetting(since: MonotonicTime)
    }

    var isListening: Bool {
        switch self {
        case .running, .settingUp, .recovering: true
        case .off, .forbidden: false
        }
    }

    /// Returns when the phase ends by itself. Nil if only an event ends it.
    func end(isBlocked: Bool, resetLimit: Duration) -> MonotonicTime? {
        switch self {
        case .recovering(.resetting(let since)): since + resetLimit
        case .off(let until): isBlocked ? nil : until
        case .forbidden(let until): until
        case .settingUp, .running, .recovering: nil
        }
    }
}
