import Synchronization

/// Flags for possible changes since the live feed last read them. Only the first new flag after a read wakes the feed.
package final class ChangeMarks: Sendable {
    package struct Parts: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// One or more sessions changed; each has its own flag (`MeterStates.mark`).
        package static let sessions = Parts(rawValue: 1)
        /// Leases, readings of other hosts' meters, or the list of meters changed.
        package static let zone = Parts(rawValue: 2)
        package static let host = Parts(rawValue: 4)
    }

    private struct State {
        var parts: Parts = []
        var wake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Call after the change. Within one job of an actor, the order does not matter.
    package func mark(_ parts: Parts) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.parts.isSuperset(of: parts) else { return nil }
            state.parts.formUnion(parts)
            return state.wake
        }
        wake?()
    }

    package var isEmpty: Bool { state.withLock { $0.parts.isEmpty } }

    /// Returns and clears the flags.
    ///
    /// - Parameter wake: called when a new flag is set; nil if no reader waits.
    @discardableResult
    package func take(waking wake: (@Sendable () -> Void)?) -> Parts {
        state.withLock { state in
            defer { state = State(wake: wake) }
            return state.parts
        }
    }
}
