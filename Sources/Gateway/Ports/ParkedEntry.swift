package import MeterModel
package import SyncCore

/// A record, or part of one, that this host has but does not sync: refused by the cloud, impossible to keep here, or
/// set aside because the cloud does not list it (`meterctl sync parked`).
package struct ParkedEntry: Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        /// The cloud refuses it. Its values remain in force here.
        case refused
        /// The cloud sent it, but it cannot be kept here.
        case unreadable
        /// Everything was read again, and the cloud did not list it. Whether it was deleted or lost is unknown.
        case unlisted
        /// Another host set it, in the zone that this host was in before.
        case otherZone
    }

    /// The name people use: a letter for the list, and a number, which is not reused among the entries that were set
    /// aside.
    package var id: String
    package var reason: Reason
    /// The reason in words.
    package var words: String
    package var type: String
    package var name: String
    /// The values, by property, as text.
    package var values: [String: String]
    /// At least one of the values was set on this host.
    package var isOwn: Bool
    /// The zone it was in, if known and relevant.
    package var zone: String?
    /// When it was parked, by this host's calendar.
    package var at: WallTime

    package init(
        id: String, reason: Reason, words: String, type: String, name: String, values: [String: String], isOwn: Bool,
        zone: String?, at: WallTime
    ) {
        self.id = id
        self.reason = reason
        self.words = words
        self.type = type
        self.name = name
        self.values = values
        self.isOwn = isOwn
        self.zone = zone
        self.at = at
    }
}

/// What `restore` of a parked entry did.
package enum ParkedRestore: Hashable, Sendable {
    /// No entry has this id.
    case unknown
    /// The number of properties that wait to be sent now and did not before.
    case restored(properties: Int, MergeOutcome)
    /// All that was set aside is older than what this host has, or still cannot be kept. The entry stays.
    case nothing(because: String)
}
