import Domain
import Synchronization

/// Events from links that wait for the bridge. The number of messages is limited; more are only counted, so that a
/// flood takes no memory.
final class EventQueue: Sendable {
    static let messagesMax = 64

    private struct State {
        var events: [(attempt: Int, event: BrokerEvent)] = []
        var messages = 0
        var overrun = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when the empty queue gets an event.
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

    /// Takes all events in order, and the number of messages without room.
    func take() -> (events: [(attempt: Int, event: BrokerEvent)], overrun: Int) {
        state.withLock { state in
            defer { state = State() }
            return (state.events, state.overrun)
        }
    }
}
