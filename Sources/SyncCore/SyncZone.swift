package import MeterModel

/// Which zone of which store the cloud says this is. Progress, and what this host has told, belong to one of them.
package struct SyncZone: Hashable, Sendable {
    /// The identity that was made with the zone: a UUID. nil from a cloud that has no identities.
    package var id: String?
    package var name: String
    /// Of the cloud's store.
    package var epoch: String
    /// The cloud's wall clock when it said so, milliseconds since 1970.
    package var serverTime: UInt64

    package init(id: String?, name: String, epoch: String, serverTime: UInt64 = 0) {
        self.id = id
        self.name = name
        self.epoch = epoch
        self.serverTime = serverTime
    }

    /// What the zone is known by: its identity, or what stands for one where the cloud has none.
    package var identity: String { id ?? Self.standIn(for: name) }

    package static func standIn(for name: String) -> String { "zone \(name)" }
}

/// How a host begins with a zone: what it tells of what it has, and what it makes of what the zone does not list
/// (Docs/Decisions/0013).
package enum ZoneEntry: Hashable, Sendable {
    /// The first zone, another epoch of the same one, or a store that went back: everything is fetched and everything
    /// is told, others' records and deletions too.
    case everything
    /// The progress is from before zones had identities, so nobody knows whether it belongs to this zone: everything is
    /// fetched, what was made here is told, and what the zone does not list of the rest is set aside.
    case own
    /// Another zone than the last. Everything is fetched. Told are records of meters that this host has met and those
    /// with a setting that was made here, or all (`bringsAll`); the rest is set aside, and so are the deletions.
    case another(bringsAll: Bool)
    /// Away for longer than deletions are kept: everything is fetched, nothing is told but what waits, and what the zone
    /// does not list is set aside.
    case afterLong
}

extension ZoneEntry {
    /// For longer than this deletions are not kept, in the cloud as here: 180 days.
    package static let absenceMax = Duration.seconds(180 * 86_400)

    /// How to begin with `zone`; nil where the progress is this zone's and goes on.
    ///
    /// - Parameters:
    ///   - now: this host's calendar; nil where it is not known.
    ///   - wentBack: the cloud's store lacks changes that this host has seen.
    package static func needed(
        for zone: SyncZone, after progress: SyncProgress, at now: WallTime?, bringsAll: Bool, wentBack: Bool = false
    ) -> ZoneEntry? {
        let isAfterLong =
            progress.visits[zone.identity].map { isLong(since: $0.serverTime, until: zone.serverTime) } ?? false
        switch relation(of: zone, to: progress) {
        case .first: return .everything
        case .unknown: return .own
        case .another: return isAfterLong ? .afterLong : .another(bringsAll: bringsAll)
        case .same:
            // Half a year has to have gone by in both calendars: a cloud whose calendar jumped, or one copy of it, would
            // else make every host keep to itself what the others may lack.
            if isAfterLong, let now, let last = progress.record.lastSuccess,
                now.millisecondsSince1970 - last.millisecondsSince1970 > absenceMax.milliseconds
            {
                return .afterLong
            }
            return wentBack || progress.epoch != zone.epoch ? .everything : nil
        }
    }

    private enum Relation { case first, unknown, another, same }

    private static func relation(of zone: SyncZone, to progress: SyncProgress) -> Relation {
        guard progress.epoch != nil else { return .first }
        guard let known = progress.zone else { return .unknown }
        guard known != zone.identity else { return .same }
        if zone.id == nil {
            // A cloud without identities: within one store the name says which zone it is.
            return progress.zoneName == zone.name ? .same : .another
        }
        return known == SyncZone.standIn(for: zone.name) ? .unknown : .another
    }

    private static func isLong(since: UInt64, until: UInt64) -> Bool {
        until > since && until - since > UInt64(absenceMax.milliseconds)
    }
}

extension SyncZone {
    /// What the zone is known by from now on, where it was `known` by something already: a cloud that no longer says
    /// which zone this is does not make another one of it.
    package func identity(after known: String?, name knownName: String?) -> String {
        if id == nil, knownName == name, let known { return known }
        return identity
    }
}
