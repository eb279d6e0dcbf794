import Synchronization

/// The waiting lines, and the copies' signs of life, of an engine that has them in this process alone: each call is one
/// step under one lock, and all is gone with the process.
package final class ProcessLines: Sendable {
    private struct State {
        var lines: [MeterPlace: SharedLine] = [:]
        var marks: [CopyID: UInt64] = [:]
        var version: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// See `CloudEngine.changeLine`.
    package func change(_ place: MeterPlace, _ change: ([Waiter]) -> [Waiter]) -> SharedLine {
        state.withLock { state in
            let line = state.lines[place] ?? SharedLine(waiters: [], version: state.version)
            let next = change(line.waiters)
            guard next != line.waiters else { return line }
            state.version += 1
            let changed = SharedLine(waiters: next, version: state.version)
            state.lines[place] = next.isEmpty ? nil : changed
            return changed
        }
    }

    package var reading: LineReading { state.withLock { LineReading(lines: $0.lines, version: $0.version) } }

    /// See `CloudEngine.showLife`.
    package func showLife(of copy: CopyID, isFirst: Bool) -> CopySigns {
        state.withLock { state in
            guard isFirst || state.marks[copy] != nil else { return CopySigns(marks: state.marks, wasGivenUp: true) }
            state.version += 1
            state.marks[copy] = state.version
            return CopySigns(marks: state.marks, wasGivenUp: false)
        }
    }

    /// See `CloudEngine.giveUp`.
    package func giveUp(_ copy: CopyID, seen mark: UInt64) -> Bool {
        state.withLock { state in
            guard let present = state.marks[copy] else { return true }
            guard present == mark else { return false }
            state.marks[copy] = nil
            return true
        }
    }
}
