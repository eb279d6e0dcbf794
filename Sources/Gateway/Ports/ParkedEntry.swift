package import MeterModel
package import SyncCore

/// A record, or part of one, that this host has and that is not synced: refused by the cloud, not to be kept here, or
/// set aside because the cloud does not list it (`meterctl sync parked`).
package struct ParkedEntry: Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable {
        /// The cloud will not take it. Its values stand here and are in force.
        case refused
        /// The cloud sent it and it cannot be kept here.
        case unreadable
        /// Everything was read anew, and the cloud did not list it. Nobody knows whether it was deleted or forgotten.
        case unlisted
        /// It was another host's in the zone that this host was in before.
        case otherZone
    }

    /// What people call it by: a letter for the list, and a number. Not used again for another entry of those that were
    /// set aside.
    package var id: String
    package var reason: Reason
    /// Why, in words.
    package var words: String
    package var type: String
    package var name: String
    /// The values, by property, as text.
    package var values: [String: String]
    /// At least one of the values was set on this host.
    package var isOwn: Bool
    /// The zone where it stood; nil where that does not matter or is not known.
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
    /// So many properties wait to be sent now that did not.
    case restored(properties: Int, MergeOutcome)
    /// All that was set aside is older than what stands here, or still cannot be kept. The entry stays.
    case nothing(because: String)
}
