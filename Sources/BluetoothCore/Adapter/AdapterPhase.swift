import Domain

/// What an adapter machine is about.
enum AdapterPhase: Hashable, Sendable {
    case settingUp
    case running
    case recovering(Recovery)
    /// Off, and not by us. Without a time, until rfkill releases it.
    case off(until: MonotonicTime?)
    case forbidden(until: MonotonicTime)

    enum Recovery: Hashable, Sendable {
        case switchingOff
        case switchingOn
        case resetting(since: MonotonicTime)
    }

    /// Whether devices can be heard at all.
    var isListening: Bool {
        switch self {
        case .running, .settingUp, .recovering: true
        case .off, .forbidden: false
        }
    }

    /// When it ends without an event, if so.
    ///
    /// - Parameter resetLimit: how long a reset of the chip may take.
    func end(isBlocked: Bool, resetLimit: Duration) -> MonotonicTime? {
        switch self {
        case .recovering(.resetting(let since)): since + resetLimit
        case .off(let until): isBlocked ? nil : until
        case .forbidden(let until): until
        case .settingUp, .running, .recovering: nil
        }
    }
}
