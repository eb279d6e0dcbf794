/// `GET /v1/meters/{meter}/pd`: what was heard of USB Power Delivery on a meter's CC line while meterd runs. Unknown is
/// null.
package struct PDBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Whether this host is linked to the meter, and so hears what happens now.
    package var listening: Bool
    /// Whether a partner is plugged in.
    @NullCodable package var attached: Bool?
    /// The last measurement; null before the first.
    @NullCodable package var line: Line?
    /// What source and sink last agreed on.
    @NullCodable package var contract: Contract?
    /// What the source last offered; empty where it was not heard.
    package var capabilities: [PDObjectBody]
    /// Oldest first; with `after`, those that are newer, and one that has `more` since.
    package var entries: [PDEntryBody]
    /// The number of the newest entry, to ask for newer ones; 0 where there is none.
    package var last: Int
    /// Entries that were dropped for newer ones.
    package var dropped: Int
    /// So many are kept.
    package var entries_max: Int

    /// The voltages of the plug, and its current.
    package struct Line: Codable, Hashable, Sendable {
        /// RFC 3339; in an entry, which has a time of its own, absent.
        package var time: String?
        package var voltage_V: Double
        /// With the meter's sign.
        package var current_A: Double
        package var cc1_V: Double
        package var cc2_V: Double

        package init(time: String? = nil, voltage_V: Double, current_A: Double, cc1_V: Double, cc2_V: Double) {
            self.time = time
            self.voltage_V = voltage_V
            self.current_A = current_A
            self.cc1_V = cc1_V
            self.cc2_V = cc2_V
        }
    }

    package struct Contract: Codable, Hashable, Sendable {
        /// In words, as `pd_contract` has it.
        package var text: String
        /// The number of the source's object.
        package var position: Int
        /// Null where the source chooses it.
        @NullCodable package var voltage_V: Double?
        /// What the sink intends to draw; null where it asked for power.
        @NullCodable package var current_A: Double?
        @NullCodable package var power_W: Double?
        /// When it was agreed on, RFC 3339.
        @NullCodable package var since: String?

        package init(text: String, position: Int) {
            self.text = text
            self.position = position
        }
    }

    package init(meter: String, listening: Bool, entries: [PDEntryBody], last: Int, dropped: Int, entries_max: Int) {
        self.meter = meter
        self.listening = listening
        self.entries = entries
        self.last = last
        self.dropped = dropped
        self.entries_max = entries_max
        capabilities = []
    }
}

/// An object of a list of capabilities: what a source offers, or a sink would like.
package struct PDObjectBody: Codable, Hashable, Sendable {
    /// As a request counts, from 1. Those of the extended range start with 8.
    package var position: Int
    /// `fixed`, `variable`, `battery`, `pps`, `avs`, `epr-avs` or `unknown`.
    package var kind: String
    /// In words: `PPS 3.3-11 V 3 A`.
    package var text: String
    /// Both are the same for a fixed voltage.
    @NullCodable package var voltage_min_V: Double?
    @NullCodable package var voltage_max_V: Double?
    /// Of an adjustable voltage, up to 15 V.
    @NullCodable package var current_max_A: Double?
    @NullCodable package var power_max_W: Double?
    /// What else the partner can do; the first object says it for all.
    package var abilities: [String]

    package init(position: Int, kind: String, text: String, abilities: [String]) {
        self.position = position
        self.kind = kind
        self.text = text
        self.abilities = abilities
    }
}

/// Something that happened on a CC line.
package struct PDEntryBody: Codable, Hashable, Sendable {
    /// Counted from 1 while meterd runs.
    package var number: Int
    /// RFC 3339, by the calendar of the host.
    package var time: String
    /// The meter's clock, which wraps after 49 days.
    package var clock_ms: UInt32
    /// `listening`, `attached`, `detached`, `plug`, `message`, `voltage` or `unread`.
    package var kind: String
    /// What happened, in one line.
    package var text: String
    /// What the meter measured when it told of it.
    package var line: PDBody.Line
    /// How many more of its kind followed without anything else between them.
    package var more: Int
    /// When the last of those came, RFC 3339.
    @NullCodable package var until: String?
    /// Of a message alone; absent otherwise.
    package var message: Message?

    package struct Message: Codable, Hashable, Sendable {
        /// As the specification calls it: `Source_Capabilities`.
        package var name: String
        /// The ordered set before it: `SOP` for the partner, `SOP'` and `SOP''` for the cable's plugs.
        package var sop: String
        /// `source`, `sink`, `cable` or `port`; null where the message does not tell.
        @NullCodable package var from: String?
        @NullCodable package var to: String?
        /// Counted by the sender, 0 to 7; null without a header.
        @NullCodable package var id: Int?
        /// Of the specification, 1 to 3.
        @NullCodable package var revision: Int?
        /// What it says beyond its name; null where nothing, or nobody knows.
        @NullCodable package var meaning: String?
        /// Of a list of capabilities; empty for another message.
        package var objects: [PDObjectBody]
        /// It is only the receipt of the one before.
        package var acknowledges: Bool
        /// It was sent again, because nobody acknowledged it.
        package var resent: Bool
        /// Header and objects as on the wire, in hexadecimal.
        package var bytes: String

        package init(
            name: String, sop: String, objects: [PDObjectBody], acknowledges: Bool, resent: Bool, bytes: String
        ) {
            self.name = name
            self.sop = sop
            self.objects = objects
            self.acknowledges = acknowledges
            self.resent = resent
            self.bytes = bytes
        }
    }

    package init(number: Int, time: String, clock_ms: UInt32, kind: String, text: String, line: PDBody.Line) {
        self.number = number
        self.time = time
        self.clock_ms = clock_ms
        self.kind = kind
        self.text = text
        self.line = line
        more = 0
    }
}
