package import Domain

/// What was heard on a meter's CC line, in order: plugs, messages and what they mean, and the voltage that came of them.
///
/// Bounded: the oldest entries are dropped, and counted.
package struct PDTimeline: Sendable {
    /// Most entries that are kept. A negotiation takes about twenty, one of the extended range about sixty.
    package static let longest = 1000

    /// Oldest first.
    package private(set) var entries: [PDEntry] = []
    /// Entries that were kept once and are not any more.
    package private(set) var dropped = 0
    /// Whether a partner is plugged in; nil while neither was heard.
    package private(set) var isAttached: Bool?
    /// The last measurement, and when it was made.
    package private(set) var latest: (time: WallTime, level: PDLevel)?
    /// When the contract was agreed on.
    package private(set) var agreedAt: WallTime?
    private var negotiation = PDNegotiation()
    /// The last message but acknowledgements, while nobody has acknowledged it.
    private var unacknowledged: PDMessage?
    /// The meter's clock at the last report; nil before the first one of a link.
    private var clock: UInt32?
    /// The voltage that the last entry about it told.
    private var toldVoltage_mV: Int?
    /// The voltage of the last report, while it is on its way from that one.
    private var settling_mV: Int?
    /// The number of the entry that stands for what source and sink have been saying over and over since.
    private var keptAlive: Int?

    package init() {}

    /// What the source last offered, while it is plugged in.
    package var offers: [PDOffer] { negotiation.offers }

    /// What was last agreed on, as far as it was heard.
    package var contract: PDContract? { negotiation.contract }

    /// The number of the last entry; they are counted from 1.
    package var count: Int { dropped + entries.count }

    /// The entries after the one with this number, as many as are left.
    package func entries(after number: Int) -> ArraySlice<PDEntry> {
        entries.dropFirst(min(max(0, number - dropped), entries.count))
    }

    /// The last entry that others are still added to, if any (`PDEntry.more`).
    package var growing: PDEntry? { keptAlive.flatMap { place(of: $0) }.map { entries[$0] } }

    private func place(of number: Int) -> Int? {
        let place = number - 1 - dropped
        return entries.indices.contains(place) ? place : nil
    }

    /// A link to the meter begins: what happened before was not heard, and neither was what led to it.
    package mutating func linkBegan() { clock = nil }

    /// - Parameter time: when the report came.
    package mutating func add(_ report: PDReport, at time: WallTime) {
        if !continues(with: report.milliseconds) { beginAnew(report, at: time) }
        clock = report.milliseconds
        latest = (time, report.level)
        for event in report.events {
            let age = Int32(bitPattern: report.milliseconds &- event.milliseconds)
            add(event, at: time + .milliseconds(-Int64(age)), report.level)
        }
        if !report.rest.isEmpty {
            keptAlive = nil
            append(.unread(report.rest), at: time, clock: report.milliseconds, report.level)
        }
        addVoltage(report, at: time)
    }

    /// A clock that goes back is that of a meter that was switched off meanwhile.
    private func continues(with milliseconds: UInt32) -> Bool {
        clock.map { Int32(bitPattern: milliseconds &- $0) >= 0 } ?? false
    }

    private mutating func beginAnew(_ report: PDReport, at time: WallTime) {
        forget()
        isAttached = nil
        // What the meter has kept from before comes after it.
        let age = report.events.map { Int32(bitPattern: report.milliseconds &- $0.milliseconds) }.max() ?? 0
        append(.listening, at: time + .milliseconds(-Int64(max(0, age))), clock: report.milliseconds, report.level)
        toldVoltage_mV = report.level.voltage_mV
        settling_mV = nil
    }

    private mutating func forget() {
        negotiation.reset()
        agreedAt = nil
        unacknowledged = nil
        keptAlive = nil
    }

    private mutating func add(_ event: PDEvent, at time: WallTime, _ level: PDLevel) {
        switch event.kind {
        case .attached(let line):
            forget()
            isAttached = true
            append(.attached(line), at: time, clock: event.milliseconds, level)
        case .detached(let line):
            forget()
            isAttached = false
            append(.detached(line), at: time, clock: event.milliseconds, level)
        case .plug(let code):
            append(.plug(code: code), at: time, clock: event.milliseconds, level)
        case .message(let message):
            guard !isMore(message, at: time) else { return }
            let heard = heard(message, at: time)
            append(.message(heard), at: time, clock: event.milliseconds, level)
            if message.isKeepAlive { keptAlive = count }
        }
    }

    /// In the extended range source and sink assure each other every half second that they are there. That would drive out
    /// all the rest, so from the second time on it only adds to the entry of the first.
    private mutating func isMore(_ message: PDMessage, at time: WallTime) -> Bool {
        let isReceipt = message.header?.isAcknowledgement == true
        guard let number = keptAlive, let place = place(of: number),
            message.isKeepAlive || message.isKeepAliveAnswer || isReceipt
        else {
            keptAlive = nil
            return false
        }
        if message.isKeepAlive {
            entries[place].more += 1
        } else if entries[place].more == 0 {
            return false
        }
        entries[place].until = time
        unacknowledged = nil
        return true
    }

    private mutating func heard(_ message: PDMessage, at time: WallTime) -> PDEntry.Heard {
        var meaning = PDMeaning(of: message, offers: negotiation.offers)
        let before = negotiation.contract
        if let list = negotiation.heard(message) { meaning = PDMeaning(list: list) }
        if before != negotiation.contract { agreedAt = time }
        guard message.header?.isAcknowledgement != true else {
            unacknowledged = nil
            return PDEntry.Heard(message: message, meaning: meaning)
        }
        defer { unacknowledged = message }
        return PDEntry.Heard(message: message, meaning: meaning, isResent: unacknowledged == message)
    }

    /// Volts that settled at another level: each on the way there would be an entry.
    private mutating func addVoltage(_ report: PDReport, at time: WallTime) {
        let voltage = report.level.voltage_mV
        guard let told = toldVoltage_mV, abs(voltage - told) >= Self.voltageStep_mV else {
            settling_mV = nil
            return
        }
        defer { settling_mV = voltage }
        guard let settling = settling_mV, abs(voltage - settling) < Self.voltageRest_mV else { return }
        toldVoltage_mV = voltage
        append(.voltage, at: time, clock: report.milliseconds, report.level)
    }

    /// Less is a load, and not another contract. The finest step of a programmable supply, 20 mV, is below it.
    private static let voltageStep_mV = 400
    private static let voltageRest_mV = 100

    private mutating func append(
        _ kind: PDEntry.Kind, at time: WallTime, clock: UInt32, _ level: PDLevel
    ) {
        // Reports do not come at an even pace, so the age of an event may be a few milliseconds off.
        let last = entries.last?.time ?? time
        let isOff = time < last && last < time + .seconds(1)
        entries.append(
            PDEntry(number: count + 1, time: isOff ? last : time, milliseconds: clock, level: level, kind: kind))
        let extra = entries.count - Self.longest
        guard extra > 0 else { return }
        entries.removeFirst(extra)
        dropped += extra
    }
}

/// Something that happened on a CC line.
package struct PDEntry: Hashable, Sendable {
    /// Counted from 1 while meterd runs.
    package let number: Int
    /// By the calendar of the host: when the meter's report came, less its age by the meter's clock.
    package let time: WallTime
    /// The meter's clock, wrapping.
    package let milliseconds: UInt32
    /// What the meter measured at the end of the report that told it.
    package let level: PDLevel
    package let kind: Kind
    /// How many more of its kind followed without anything else between them: only assurances that both are there.
    package internal(set) var more = 0
    /// When the last of those came.
    package internal(set) var until: WallTime?

    init(number: Int, time: WallTime, milliseconds: UInt32, level: PDLevel, kind: Kind) {
        self.number = number
        self.time = time
        self.milliseconds = milliseconds
        self.level = level
        self.kind = kind
    }

    package enum Kind: Hashable, Sendable {
        /// A link to the meter began, or the meter was switched on: what happened before is not known.
        case listening
        case attached(CCLine?)
        case detached(CCLine?)
        /// A change of the plug, with a code that nobody has described.
        case plug(code: UInt8)
        case message(Heard)
        /// The voltage settled at another level.
        case voltage
        /// Bytes that nobody can read.
        case unread([UInt8])
    }

    package struct Heard: Hashable, Sendable {
        package let message: PDMessage
        package let meaning: PDMeaning
        /// It is sent again, because nobody acknowledged it.
        package let isResent: Bool

        init(message: PDMessage, meaning: PDMeaning, isResent: Bool = false) {
            self.message = message
            self.meaning = meaning
            self.isResent = isResent
        }
    }
}

extension PDEntry.Kind {
    /// For programs.
    package var name: String {
        switch self {
        case .listening: "listening"
        case .attached: "attached"
        case .detached: "detached"
        case .plug: "plug"
        case .message: "message"
        case .voltage: "voltage"
        case .unread: "unread"
        }
    }
}

extension PDEntry {
    /// What happened, in one line.
    package var words: String {
        switch kind {
        case .listening: "listening begins"
        case .attached(let line): "plugged in" + Self.words(line)
        case .detached(let line): "unplugged" + Self.words(line)
        case .plug(let code): "plug event \(Hex.encode([code]))"
        case .voltage: "VBUS is \(Thousandths(level.voltage_mV)) V"
        case .unread(let bytes): "not understood: \(Hex.encode(bytes))"
        case .message(let heard):
            [heard.message.header?.title ?? "bytes", heard.meaning.words].compactMap { $0 }.joined(separator: ": ")
        }
    }

    private static func words(_ line: CCLine?) -> String { line.map { ", CC\($0.rawValue)" } ?? "" }
}

extension PDMessage {
    /// Of the sink in the extended range.
    var isKeepAlive: Bool { extendedControl == 3 }
    var isKeepAliveAnswer: Bool { extendedControl == 4 }

    private var extendedControl: UInt8? {
        guard let header, header.isExtended, header.type == PDHeader.extendedControl, chunk?.isRequest == false else {
            return nil
        }
        return chunkBytes.first
    }

    /// Who sends a message, and to whom.
    package enum Party: String, Hashable, Sendable, CaseIterable {
        case source
        case sink
        /// A plug of the cable.
        case cable
        /// The partner that talks to the cable; the header does not say which of the two.
        case port
    }

    /// Nil without a header, and behind any other ordered set.
    package var parties: (sender: Party, receiver: Party)? {
        guard let header else { return nil }
        switch sop {
        case 0: return header.isFromSourceOrPlug ? (.source, .sink) : (.sink, .source)
        case 1, 2: return header.isFromSourceOrPlug ? (.cable, .port) : (.port, .cable)
        default: return nil
        }
    }
}
