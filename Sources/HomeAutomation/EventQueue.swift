import HomeAutomationCore
import Synchronization

/// What links told and nobody took yet. Messages from others are bounded: of too many the rest is counted, so that a
/// flood costs a number.
final class EventQueue: Sendable {
    /// So many messages may wait.
    static let messagesMax = 64

    private struct State {
        var events: [(attempt: Int, event: BrokerEvent)] = []
        var messages = 0
        var overrun = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: is called when there is something to take that was not there before.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func add(_ event: BrokerEvent, of attempt: Int) {
        let isFirst = state.withLock { state in
            let wasEmpty = state.events.isEmpty && state.overrun == 0
            if case .received = event {
                guard state.messages < Self.messagesMax else {
                    state.overrun += 1
                    return wasEmpty
                }
                state.messages += 1
            }
            state.events.append((attempt, event))
            return wasEmpty
        }
        if isFirst { wake() }
    }

    /// All there is, in order, and how many messages there was no room for.
    func take() -> (events: [(attempt: Int, event: BrokerEvent)], overrun: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.overrun)
        }
    }
}
