/// A zone and its store, as identified by the cloud. Sync progress belongs to one zone.
package struct SyncZone: Hashable, Sendable {
    /// UUID created with the zone; nil from a cloud whose zones have no identity.
    package var id: String?
    package var name: String
    package var epoch: String
    /// The cloud's wall clock when it answered, milliseconds since 1970.
    package var serverTime: UInt64

    package init(id: String?, name: String, epoch: String, serverTime: UInt64 = 0) {
        self.id = id
        self.name = name
        self.epoch = epoch
        self.serverTime = serverTime
    }

    package var identity: String { id ?? Self.standIn(for: name) }

    package static func standIn(for name: String) -> String { "zone \(name)" }
}

/// Way of entering a zone: which records this host pushes, and whether it sets aside records that the zone does not
/// list (Docs/Decisions/0013).
package enum ZoneEntry: Hashable, Sendable {
    /// For the first zone, another epoch of the same zone, or a store that was rolled back. Fetches and pushes
    /// everything, including other hosts' records and deletions.
    case everything
    /// For sync progress from a version without zone identities. Fetches everything and pushes records made here. Sets
    /// aside other records that the zone does not list.
    case own
    /// For another zone than the last. Fetches everything. Pushes records of meters that this host has seen and records
    /// with a setting made here, or all records (`bringsAll`). Sets aside the remaining records and the deletions.
    case another(bringsAll: Bool)
    /// For an absence longer than `absenceMax`. Fetches everything, pushes only the outbox and sets aside records that
    /// the zone does not list.
    case afterLong
}

extension ZoneEntry {
    /// Absence after which `afterLong` applies; the cloud and the hosts keep deletions for 180 days.
    package static let absenceMax = Duration.seconds(180 * 86_400)

    /// Returns how to enter `zone`; nil if the progress is valid for it.
    ///
    /// - Parameters:
    ///   - now: this host's wall clock; nil if unknown.
    ///   - wentBack: whether the cloud's store lacks changes that this host has seen.
    package static func needed(
        for zone: SyncZone, after progress: SyncProgress, at now: WallTime?, bringsAll: Bool, wentBack: Bool
    ) -> ZoneEntry? {
        let isAfterLong =
            progress.visits[zone.identity].map { isLong(since: $0.serverTime, until: zone.serverTime) } ?? false
        switch relation(of: zone, to: progress) {
        case .first: return .everything
        case .unknown: return .own
        case .another: return isAfterLong ? .afterLong : .another(bringsAll: bringsAll)
        case .same:
            // The cloud's and this host's clock must both show the absence. Otherwise one jump of a cloud's clock would
            // make every host set records aside.
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
            // Without identities, zones of one store differ by name.
            return progress.zoneName == zone.name ? .same : .another
        }
        return known == SyncZone.standIn(for: zone.name) ? .unknown : .another
    }

    private static func isLong(since: UInt64, until: UInt64) -> Bool {
        until > since && until - since > UInt64(absenceMax.milliseconds)
    }
}

extension SyncZone {
    /// Returns the identity to store for the zone. Keeps the known one if the cloud stops reporting an identity.
    package func identity(after known: String?, name knownName: String?) -> String {
        if id == nil, knownName == name, let known { return known }
        return identity
    }
}
