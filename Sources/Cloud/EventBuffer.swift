import CloudAPI
import Synchronization

/// Bounded queue of the events for one listener.
///
/// Waiting changes merge into one event, because a host fetches all changes together. Only a meter's last interest
/// event is kept. If too many events wait, the stream ends, and the listener lists everything again.
final class EventBuffer: Sendable {
    /// Maximum number of waiting events: about one for each meter of a large zone.
    static let waitingMax = 256

    private enum State {
        /// No listener waits; events may be queued. Valid transitions: `listening`, `ended`.
        case waiting([EventBody])
        /// A listener waits, and no event is queued. Valid transitions: `waiting`, `ended`.
        case listening(CheckedContinuation<EventBody?, Never>)
        case ended
    }

    private let state = Mutex(State.waiting([]))

    /// - Returns: false if the buffer has ended, possibly because of this event.
    func push(_ event: EventBody) -> Bool {
        let (listener, isOpen) = state.withLock { state -> (CheckedContinuation<EventBody?, Never>?, Bool) in
            switch state {
            case .ended:
                return (nil, false)
            case .listening(let listener):
                state = .waiting([])
                return (listener, true)
            case .waiting(var events):
                // Drops the second reference, so that the array is changed in place.
                state = .ended
                guard Self.add(event, to: &events) else { return (nil, false) }
                state = .waiting(events)
                return (nil, true)
            }
        }
        listener?.resume(returning: event)
        return isOpen
    }

    private static func add(_ event: EventBody, to events: inout [EventBody]) -> Bool {
        if let change = event.change, let place = events.firstIndex(where: { $0.change != nil }) {
            events[place].change = events[place].change.map { $0.joined(with: change) }
            return true
        }
        if let interest = event.interest,
            let place = events.firstIndex(where: { $0.interest?.meter == interest.meter })
        {
            events[place] = event
            return true
        }
        guard events.count < waitingMax else { return false }
        events.append(event)
        return true
    }

    /// Returns the next event, or nil after the end. Allows one caller at a time, whose cancellation ends the buffer.
    func next() async -> EventBody? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                deliver(to: continuation)
            }
        } onCancel: {
            end()
        }
    }

    private func deliver(to continuation: CheckedContinuation<EventBody?, Never>) {
        let (answered, event) = state.withLock { state -> (CheckedContinuation<EventBody?, Never>?, EventBody?) in
            switch state {
            case .ended:
                return (continuation, nil)
            case .listening(let earlier):
                // Two concurrent callers are a mistake: the earlier one receives nil.
                state = .listening(continuation)
                return (earlier, nil)
            case .waiting(var events):
                guard !events.isEmpty else {
                    state = .listening(continuation)
                    return (nil, nil)
                }
                state = .ended
                let first = events.removeFirst()
                state = .waiting(events)
                return (continuation, first)
            }
        }
        answered?.resume(returning: event)
    }

    /// Drops waiting events. Idempotent.
    func end() {
        let listener = state.withLock { state -> CheckedContinuation<EventBody?, Never>? in
            defer { state = .ended }
            guard case .listening(let listener) = state else { return nil }
            return listener
        }
        listener?.resume(returning: nil)
    }
}

extension EventBody.Change {
    fileprivate func joined(with later: EventBody.Change) -> EventBody.Change {
        EventBody.Change(
            types: types + later.types.filter { !types.contains($0) }, hostID: hostID == later.hostID ? hostID : nil)
    }
}
