package import Domain

/// Last lines of one meter's log, in the order of their starts. A repeated event may fold into a line: it raises the
/// line's count instead of adding a line.
///
/// A command folds only into an equal command right before it, and no event folds past a command. A connection state
/// that lasts less than `passingTime` is omitted; every other event counts in exactly one line.
package struct LogFold: Sendable {
    package struct Line: Hashable, Sendable {
        /// Rises with each line of this host.
        package let number: Int64
        package fileprivate(set) var entry: LogEntry
        fileprivate var isWritten = false
    }

    private struct Passing: Sendable {
        var state: ConnectionState
        var cause: String
        var since: HostMoment
    }

    /// Maximum age of a line into which new events can fold.
    package static let foldedWithin = Duration.seconds(900)
    /// Number of recent lines into which new events can fold. Exceeds the number of states of a link that breaks and
    /// reconnects.
    package static let reach = 12
    /// Minimum duration of a logged intermediate connection state.
    static let passingTime = Duration.seconds(10)
    /// Duration of a `LogHolding` below which the meter's next one shares its line.
    static let shortHolding = Duration.seconds(120)
    /// Maximum number of lines while the store fails; the oldest are dropped.
    package static let linesMax = 256
    package static let textBytesMax = 256

    /// Lines that are unwritten, belong to a current `LogHolding`, or may still be folded into; oldest first.
    package private(set) var lines: [Line] = []
    private var passing: Passing?
    /// Start of the current `LogHolding`, even if its line began earlier; nil if there is none.
    private var heldSince: HostMoment?

    package init() {}

    // MARK: What happens

    /// - Parameter lastNumber: last line number of this host's log; raised with each new line.
    package mutating func stateChanged(
        from before: ConnectionState, to state: ConnectionState, because cause: String, at now: HostMoment,
        _ lastNumber: inout Int64
    ) {
        settle(at: now, &lastNumber)
        let cause = Self.clipped(cause)
        guard state.isPassing, state.rank > before.rank else {
            passing = nil
            return add(.state(state, cause: cause), at: now, &lastNumber)
        }
        passing = Passing(state: state, cause: cause, since: now)
    }

    package mutating func commanded(
        _ what: String, by author: LogAuthor, outcome: String, at now: HostMoment, _ lastNumber: inout Int64
    ) {
        settle(at: now, &lastNumber)
        add(.command(Self.clipped(what), by: author, outcome: Self.clipped(outcome)), at: now, &lastNumber)
    }

    package mutating func remedied(
        _ remedy: String, of adapter: MACAddress, because cause: String, at now: HostMoment, _ lastNumber: inout Int64
    ) {
        settle(at: now, &lastNumber)
        add(.remedy(Self.clipped(remedy), adapter: adapter, cause: Self.clipped(cause)), at: now, &lastNumber)
    }

    mutating func alerted(
        _ title: String, outcome: String, at now: HostMoment, _ lastNumber: inout Int64
    ) {
        settle(at: now, &lastNumber)
        add(.alert(Self.clipped(title), outcome: Self.clipped(outcome)), at: now, &lastNumber)
    }

    /// - Parameter token: nil without a lease.
    package mutating func held(
        _ token: FencingToken?, over transport: LeaseTransport, at now: HostMoment, _ lastNumber: inout Int64
    ) {
        settle(at: now, &lastNumber)
        let place = placeToGoOn(transport, hasLease: token != nil, at: now)
        heldSince = now
        guard let place, case .held(var holding) = lines[place].entry.event else {
            return append(.held(LogHolding(token: token, transport: transport)), at: now, &lastNumber)
        }
        holding.lastToken = token
        holding.end = nil
        change(place, to: .held(holding), at: now)
        lines[place].entry.count = lines[place].entry.count.incremented
    }

    package mutating func letGo(_ end: LogHolding.End, at now: HostMoment) {
        guard let place = lines.lastIndex(where: \.entry.isOpen), case .held(var holding) = lines[place].entry.event
        else { return }
        holding.end = end
        change(place, to: .held(holding), at: now)
    }

    /// Adds the pending connection state once it has lasted for `passingTime`.
    package mutating func settle(at now: HostMoment, _ lastNumber: inout Int64) {
        guard let stayed = passing, now.sinceBoot - stayed.since.sinceBoot >= Self.passingTime else { return }
        passing = nil
        // If a later event is already in the log, use its time, because lines are in the order of their starts.
        let since = lines.last.flatMap { last -> HostMoment? in
            guard let begun = last.entry.first.sinceBoot, begun > stayed.since.sinceBoot else { return nil }
            return HostMoment(wall: last.entry.first.wall, sinceBoot: begun)
        }
        add(.state(stayed.state, cause: stayed.cause), at: since ?? stayed.since, &lastNumber)
    }

    // MARK: Writing

    /// Oldest first.
    package var unwritten: [Line] { lines.filter { !$0.isWritten } }

    /// Marks lines as written, unless they changed since.
    package mutating func wrote(_ written: [Line]) {
        let known = Dictionary(written.map { ($0.number, $0.entry) }, uniquingKeysWith: { $1 })
        for place in lines.indices where known[lines[place].number] == lines[place].entry {
            lines[place].isWritten = true
        }
        trim()
    }

    /// Whether all lines are written and no event can fold into them.
    package func isOver(at now: HostMoment) -> Bool {
        guard passing == nil else { return false }
        return lines.allSatisfy { $0.isWritten && !$0.entry.isOpen && !isNear($0.entry.last, now) }
    }

    // MARK: Lines

    private mutating func add(_ event: LogEvent, at now: HostMoment, _ lastNumber: inout Int64) {
        guard let place = placeToFold(event, at: now) else { return append(event, at: now, &lastNumber) }
        change(place, to: event, at: now)
        lines[place].entry.count = lines[place].entry.count.incremented
    }

    private mutating func append(_ event: LogEvent, at now: HostMoment, _ lastNumber: inout Int64) {
        lastNumber = lastNumber &+ 1
        lines.append(Line(number: lastNumber, entry: LogEntry(event, first: LogMoment(now))))
        trim()
    }

    private mutating func change(_ place: Int, to event: LogEvent, at now: HostMoment) {
        lines[place].entry.event = event
        lines[place].entry.last = LogMoment(now)
        lines[place].isWritten = false
    }

    private func placeToFold(_ event: LogEvent, at now: HostMoment) -> Int? {
        placeBehindDeeds { entry in
            if entry.event == event { return isNear(entry.last, now) }
            return event.isDeed ? false : nil
        }
    }

    private func placeToGoOn(_ transport: LeaseTransport, hasLease: Bool, at now: HostMoment) -> Int? {
        guard let heldSince else { return nil }
        return placeBehindDeeds { entry in
            guard case .held(let holding) = entry.event else { return nil }
            guard holding.end == .givenBack, holding.transport == transport, (holding.token != nil) == hasLease,
                let ended = entry.last.sinceBoot
            else { return false }
            return isNear(entry.last, now) && ended - heldSince.sinceBoot < Self.shortHolding
        }
    }

    /// Searches from the last line back to the last command. `fits` returns true to accept a line, false to end the
    /// search, and nil to skip the line.
    private func placeBehindDeeds(_ fits: (LogEntry) -> Bool?) -> Int? {
        for place in lines.indices.suffix(Self.reach).reversed() {
            if let isFit = fits(lines[place].entry) { return isFit ? place : nil }
            if lines[place].entry.event.isDeed { return nil }
        }
        return nil
    }

    private func isNear(_ moment: LogMoment, _ now: HostMoment) -> Bool {
        moment.sinceBoot.map { now.sinceBoot - $0 <= Self.foldedWithin } ?? false
    }

    /// Drops written lines into which no event can fold, and the oldest lines beyond `linesMax`.
    private mutating func trim() {
        var place = 0
        while lines.count > Self.reach, place < lines.count - Self.reach {
            if (lines[place].isWritten || lines.count > Self.linesMax) && !lines[place].entry.isOpen {
                lines.remove(at: place)
            } else {
                place += 1
            }
        }
    }

    /// Shortens a text. Makes a NUL visible, because it ends a text in SQLite.
    private static func clipped(_ text: String) -> String {
        guard !text.utf8.contains(0) else { return clipped(text.visible) }
        guard text.utf8.count > textBytesMax else { return text }
        var kept = ""
        for character in text {
            guard kept.utf8.count + character.utf8.count <= textBytesMax - "…".utf8.count else { break }
            kept.append(character)
        }
        return kept + "…"
    }
}

extension LogEntry {
    package var isOpen: Bool { if case .held(let holding) = event { holding.end == nil } else { false } }
}

extension ConnectionState {
    fileprivate var isPassing: Bool {
        switch self {
        case .offline, .notConnected, .dataAvailable: false
        case .connecting, .connected, .ready, .communicating: true
        }
    }

    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Int {
    fileprivate var incremented: Int { self == .max ? self : self + 1 }
}
