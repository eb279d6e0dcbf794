package import Domain

/// Limited history of a meter's CC line: plug events, messages, and changes of the voltage. Drops and counts the oldest
/// entries.
package struct PDTimeline: Sendable {
    /// Maximum number of entries. A negotiation needs about twenty, or about sixty in the extended range.
    package static let longest = 1000

    /// Entries, oldest first.
    package private(set) var entries: [PDEntry] = []
    package private(set) var dropped = 0
    /// Whether a partner is plugged in; nil while unknown.
    package private(set) var isAttached: Bool?
    package private(set) var latest: (time: WallTime, level: PDLevel)?
    /// Time at which the contract last changed; nil before the first contract.
    package private(set) var agreedAt: WallTime?
    /// The source's last offers and their time. A new link to the meter keeps them; plugging something in or out resets
    /// them to nil.
    package private(set) var lastOffers: (offers: [PDOffer], time: WallTime)?
    private var negotiation = PDNegotiation()
    /// The last message, if it is neither an acknowledgement nor acknowledged.
    private var unacknowledged: PDMessage?
    /// The meter's clock in milliseconds at the link's last report; nil before the first.
    private var clock: UInt32?
    /// Voltage in the last voltage entry, or at the start of the link.
    private var toldVoltage_mV: Int?
    /// Voltage of the last report, while the voltage is changing.
    private var settling_mV: Int?
    /// Number of the entry that counts repeated keep-alives, if any.
    private var keptAlive: Int?

    package init() {}

    package var offers: [PDOffer] { negotiation.offers }

    package var contract: PDContract? { negotiation.contract }

    /// Number of the last entry, from 1; dropped entries count too.
    package var count: Int { dropped + entries.count }

    /// Returns the entries with greater numbers, except dropped ones.
    package func entries(after number: Int) -> ArraySlice<PDEntry> {
        entries.dropFirst(min(max(0, number - dropped), entries.count))
    }

    /// The entry that counts repeated keep-alives, if any (`PDEntry.more`).
    package var growing: PDEntry? { keptAlive.flatMap { place(of: $0) }.map { entries[$0] } }

    private func place(of number: Int) -> Int? {
        let place = number - 1 - dropped
        return entries.indices.contains(place) ? place : nil
    }

    /// Records that a new link has opened. The next report then adds a `listening` entry.
    package mutating func linkBegan() { clock = nil }

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

    /// Returns false if the meter was switched off since the last report, so that its clock was reset.
    private func continues(with milliseconds: UInt32) -> Bool {
        clock.map { Int32(bitPattern: milliseconds &- $0) >= 0 } ?? false
    }

    private mutating func beginAnew(_ report: PDReport, at time: WallTime) {
        forget()
        isAttached = nil
        // The `listening` entry must precede this report's events, which are older than the report.
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
            lastOffers = nil
            isAttached = true
            append(.attached(line), at: time, clock: event.milliseconds, level)
        case .detached(let line):
            forget()
            lastOffers = nil
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

    /// Returns whether the message only repeats a keep-alive or its answer. If so, counts it in the keep-alive's entry.
    /// In the extended range these come every half second and would displace all other entries.
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
        let before = contract
        let list = negotiation.heard(message)
        if let list { meaning = PDMeaning(list: list) }
        if before != contract { agreedAt = time }
        if list != nil || !message.sourceCapabilities.isEmpty, !offers.isEmpty { lastOffers = (offers, time) }
        guard message.header?.isAcknowledgement != true else {
            unacknowledged = nil
            return PDEntry.Heard(message: message, meaning: meaning)
        }
        defer { unacknowledged = message }
        return PDEntry.Heard(message: message, meaning: meaning, isResent: unacknowledged == message)
    }

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

    /// Minimum change of voltage for an entry: more than a load or one step (20 mV) of a programmable supply causes.
    private static let voltageStep_mV = 400
    private static let voltageRest_mV = 100

    private mutating func append(
        _ kind: PDEntry.Kind, at time: WallTime, clock: UInt32, _ level: PDLevel
    ) {
        // An event slightly older than the last entry gets that entry's time, because computed ages may be wrong by a
        // few milliseconds.
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

package struct PDEntry: Hashable, Sendable {
    /// Number of the entry, counted from 1 since meterd's start.
    package let number: Int
    /// Wall-clock time: the report's arrival time minus the event's age by the meter's clock.
    package let time: WallTime
    /// The meter's clock in milliseconds, wrapping.
    package let milliseconds: UInt32
    /// Measurement of the report that contained the event; the event may be older.
    package let level: PDLevel
    package let kind: Kind
    /// Number of repeated keep-alives without any other event since this entry.
    package internal(set) var more = 0
    /// Time of the last repeated keep-alive or its answer; nil before a repetition.
    package internal(set) var until: WallTime?

    init(number: Int, time: WallTime, milliseconds: UInt32, level: PDLevel, kind: Kind) {
        self.number = number
        self.time = time
        self.milliseconds = milliseconds
        self.level = level
        self.kind = kind
    }

    package enum Kind: Hashable, Sendable {
        /// The link has opened, or the meter was switched on, so earlier events are unknown.
        case listening
        case attached(CCLine?)
        case detached(CCLine?)
        /// A plug event with a code of unknown meaning.
        case plug(code: UInt8)
        case message(Heard)
        case voltage
        case unread([UInt8])
    }

    package struct Heard: Hashable, Sendable {
        package let message: PDMessage
        package let meaning: PDMeaning
        /// Whether the sender repeated the message because it was not acknowledged.
        package let isResent: Bool

        init(message: PDMessage, meaning: PDMeaning, isResent: Bool = false) {
            self.message = message
            self.meaning = meaning
            self.isResent = isResent
        }
    }
}

extension PDEntry.Kind {
    /// Name for machine-readable output.
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
    var isKeepAlive: Bool { extendedControl == 3 }
    var isKeepAliveAnswer: Bool { extendedControl == 4 }

    private var extendedControl: UInt8? {
        guard let header, header.isExtended, header.type == PDHeader.extendedControl, chunk?.isRequest == false else {
            return nil
        }
        return chunkBytes.first
    }

    package enum Party: String, Hashable, Sendable, CaseIterable {
        case source
        case sink
        case cable
        /// The port that communicates with the cable; the header does not show whether it is source or sink.
        case port
    }

    /// Sender and receiver; nil without a header or for an unknown ordered set.
    package var parties: (sender: Party, receiver: Party)? {
        guard let header else { return nil }
        switch sop {
        case 0: return header.isFromSourceOrPlug ? (.source, .sink) : (.sink, .source)
        case 1, 2: return header.isFromSourceOrPlug ? (.cable, .port) : (.port, .cable)
        default: return nil
        }
    }
}
