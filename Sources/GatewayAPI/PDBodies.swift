/// `GET /v1/meters/{meter}/pd`: USB Power Delivery traffic on the meter's CC line since meterd started.
package struct PDBody: Codable, Hashable, Sendable {
    package var meter: String
    /// Whether this host is linked to the meter and so receives new traffic.
    package var listening: Bool
    @NullCodable package var attached: Bool?
    @NullCodable package var line: Line?
    @NullCodable package var contract: Contract?
    /// The source's last offer; empty if none.
    package var capabilities: [PDObjectBody]
    /// Time of that offer, RFC 3339.
    @NullCodable package var capabilities_at: String?
    /// False if the offer came over an earlier link to the meter, so that the source may offer something else now.
    package var capabilities_current: Bool
    /// Oldest first. With `after`, only newer entries, and an older entry whose `more` has changed.
    package var entries: [PDEntryBody]
    /// Number of the newest entry, for `after`; 0 if there is none.
    package var last: Int
    package var dropped: Int
    package var entries_max: Int

    /// Measured voltages and current of the plug.
    package struct Line: Codable, Hashable, Sendable {
        /// RFC 3339; absent inside an entry, which has its own time.
        package var time: String?
        package var voltage_V: Double
        /// Current with the sign that the meter reports.
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
        /// The contract in words, as in `pd_contract`.
        package var text: String
        /// Position of the chosen power data object in the source's offer, from 1.
        package var position: Int
        /// Null if the source chooses the voltage.
        @NullCodable package var voltage_V: Double?
        /// Current that the sink intends to draw; null if it asked for power.
        @NullCodable package var current_A: Double?
        @NullCodable package var power_W: Double?
        /// RFC 3339.
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
        (capabilities, capabilities_current) = ([], false)
    }
}

package struct PDObjectBody: Codable, Hashable, Sendable {
    /// Position as in a PD request, from 1; in the extended power range (EPR), from 8.
    package var position: Int
    /// `fixed`, `variable`, `battery`, `pps`, `avs`, `epr-avs` or `unknown`.
    package var kind: String
    /// Text for people, such as `PPS 3.3-11 V 3 A`.
    package var text: String
    /// Equal to the maximum for a fixed voltage.
    @NullCodable package var voltage_min_V: Double?
    @NullCodable package var voltage_max_V: Double?
    /// Maximum current; for an adjustable voltage, the maximum at up to 15 V.
    @NullCodable package var current_max_A: Double?
    @NullCodable package var power_max_W: Double?
    /// Further capabilities of the PD partner; only on the first object.
    package var abilities: [String]

    package init(position: Int, kind: String, text: String, abilities: [String]) {
        self.position = position
        self.kind = kind
        self.text = text
        self.abilities = abilities
    }
}

package struct PDEntryBody: Codable, Hashable, Sendable {
    /// Counted from 1 since meterd started.
    package var number: Int
    /// RFC 3339, by the host's system clock.
    package var time: String
    /// The meter's clock, which wraps after 49 days.
    package var clock_ms: UInt32
    /// `listening`, `attached`, `detached`, `plug`, `message`, `voltage` or `unread`.
    package var kind: String
    package var text: String
    /// Voltages and current when the meter reported the event.
    package var line: PDBody.Line
    /// Number of similar entries merged into this one.
    package var more: Int
    /// Time of the last merged entry, RFC 3339.
    @NullCodable package var until: String?
    package var message: Message?

    package struct Message: Codable, Hashable, Sendable {
        /// Sender and receiver: `source`, `sink`, `cable` or `port`; null if not in the message.
        package var name: String
        /// `SOP` for the PD partner; `SOP'` and `SOP''` for the cable's plugs.
        package var sop: String
        /// `source`, `sink`, `cable` or `port`; null if the message does not contain it.
        @NullCodable package var from: String?
        @NullCodable package var to: String?
        /// The sender's message ID, 0 to 7; null without a header.
        @NullCodable package var id: Int?
        /// Revision of the USB PD specification, 1 to 3.
        @NullCodable package var revision: Int?
        /// Description of the message in words; null if the name is sufficient or the meaning unknown.
        @NullCodable package var meaning: String?
        /// Power data objects; empty unless the message is a list of capabilities.
        package var objects: [PDObjectBody]
        package var acknowledges: Bool
        /// Whether this is a repetition after a missing acknowledgement.
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
