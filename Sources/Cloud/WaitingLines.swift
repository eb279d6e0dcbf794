import MeterModel
import Synchronization

/// The waiting lines of all meters that somebody waits for, as this copy of the cloud knows them.
final class WaitingLines: Sendable {
    fileprivate struct State {
        var lines: [MeterPlace: WaitingLine] = [:]
        /// Lines that nobody stands in any more, with the version of that, until all were read since.
        var emptied: [MeterPlace: UInt64] = [:]
        /// Of the last reading of all.
        var readThrough: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Those that somebody waits for.
    var places: [MeterPlace] { state.withLock { Array($0.lines.keys) } }

    /// The copies through which somebody waits.
    var copies: Set<CopyID> { state.withLock { Set($0.lines.values.flatMap { $0.waiters.map(\.copy) }) } }

    func places(waitedAtThrough copy: CopyID) -> [MeterPlace] {
        state.withLock { state in
            state.lines.filter { $0.value.waiters.contains { $0.copy == copy } }.map(\.key)
        }
    }

    func line(at place: MeterPlace) -> WaitingLine? { state.withLock { $0.lines[place] } }

    func names(at place: MeterPlace) -> [String] { line(at: place)?.names ?? [] }

    func reserved(at place: MeterPlace, now: MonotonicTime) -> HostID? { line(at: place)?.reserved(at: now) }

    /// Takes in how a line is, in whatever order that comes.
    ///
    /// - Returns: whether that is news to whoever is shown it.
    func take(_ line: SharedLine, at place: MeterPlace) -> Bool { state.withLock { $0.take(line, at: place) } }

    /// Takes in how all lines were.
    ///
    /// - Returns: those that are news.
    func take(_ reading: LineReading) -> [MeterPlace] {
        state.withLock { state in
            var news: [MeterPlace] = []
            for place in state.lines.keys where reading.lines[place] == nil {
                let nobody = SharedLine(waiters: [], version: reading.version)
                if state.take(nobody, at: place) { news.append(place) }
            }
            for (place, line) in reading.lines where state.take(line, at: place) { news.append(place) }
            guard reading.version >= state.readThrough else { return news }
            state.readThrough = reading.version
            state.emptied = state.emptied.filter { $0.value > reading.version }
            return news
        }
    }

    /// Changes this copy's offer, in one step.
    func offer<Value: Sendable>(at place: MeterPlace, _ body: (inout WaitingLine) -> Value) -> Value? {
        state.withLock { state in
            guard var line = state.lines[place] else { return nil }
            defer { state.lines[place] = line }
            return body(&line)
        }
    }
}

extension WaitingLines.State {
    fileprivate mutating func take(_ shared: SharedLine, at place: MeterPlace) -> Bool {
        var line = lines[place] ?? WaitingLine(version: max(emptied[place] ?? 0, readThrough))
        let isNews = line.take(shared)
        lines[place] = line.isEmpty ? nil : line
        emptied[place] = line.isEmpty && line.version > readThrough ? line.version : nil
        return isNews
    }
}
