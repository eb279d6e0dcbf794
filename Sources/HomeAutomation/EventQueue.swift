import Domain
import Synchronization

/// Events of broker links, queued for the bridge. Messages above a limit are dropped and counted, so that a flood does
/// not fill memory.
final class EventQueue: Sendable {
    static let messagesMax = 64

    private struct State {
        var events: [(attempt: Int, event: BrokerEvent)] = []
        var messages = 0
        var overrun = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when an event is added to the empty queue.
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

    var isEmpty: Bool { state.withLock { $0.events.isEmpty && $0.overrun == 0 } }

    func take() -> (events: [(attempt: Int, event: BrokerEvent)], overrun: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.overrun)
        }
    }
}
