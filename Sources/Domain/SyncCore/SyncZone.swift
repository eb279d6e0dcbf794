/// The zone, and the store it is in, as the cloud names them. Progress, and what this host has pushed, belong to one
/// zone.
package struct SyncZone: Hashable, Sendable {
    /// The zone's identity, a UUID made with it; nil if the cloud does not give zones one.
    package var id: String?
    package var name: String
    /// Epoch of the cloud's store.
    package var epoch: String
    /// The cloud's wall clock when it answered, in milliseconds since 1970.
    package var serverTime: UInt64

    package init(id: String?, name: String, epoch: String, serverTime: UInt64 = 0) {
        self.id = id
        self.name = name
        self.epoch = epoch
        self.serverTime = serverTime
    }

    /// The zone's identity, or a stand-in if the cloud does not give zones one.
    package var identity: String { id ?? Self.standIn(for: name) }

    package static func standIn(for name: String) -> String { "zone \(name)" }
}

/// How a host begins with a zone: which of its records it pushes, and what it does with those that the zone does not
/// list (Docs/Decisions/0013).
package enum ZoneEntry: Hashable, Sendable {
    /// The first zone, another epoch of the same zone, or a store that went back: everything is fetched and everything
    /// is pushed, including others' records and deletions.
    case everything
    /// The progress is from before zones had identities, so nobody knows whether it belongs to this zone: everything is
    /// fetched, what was made here is pushed, and of the rest, what the zone does not list is set aside.
    case own
    /// Another zone than the last. Everything is fetched. Pushed are records of meters that this host has met and those
    /// with a setting that was made here, or all (`bringsAll`); the rest is set aside, and so are the deletions.
    case another(bringsAll: Bool)
    /// Away for longer than deletions are kept: everything is fetched, only the outbox is pushed, and what the zone
    /// does not list is set aside.
    case afterLong
}

extension ZoneEntry {
    /// How long deletions are kept, in the cloud and here: 180 days.
    package static let absenceMax = Duration.seconds(180 * 86_400)

    /// How to begin with `zone`; nil if the progress belongs to it and is still valid.
    ///
    /// - Parameters:
    ///   - now: this host's calendar, if known.
    ///   - wentBack: the cloud's store lacks changes that this host has seen.
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
            // Half a year must have passed by both calendars. Otherwise, if a cloud's calendar jumped, or that of one
            // copy of it, every host would keep to itself what the others may lack.
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
            // The cloud gives zones no identity: within one store the name says which zone it is.
            return progress.zoneName == zone.name ? .same : .another
        }
        return known == SyncZone.standIn(for: zone.name) ? .unknown : .another
    }

    private static func isLong(since: UInt64, until: UInt64) -> Bool {
        until > since && until - since > UInt64(absenceMax.milliseconds)
    }
}

extension SyncZone {
    /// What the zone is known by from now on, if it was already `known` by something: a cloud that no longer says which
    /// zone this is does not make it another one.
    package func identity(after known: String?, name knownName: String?) -> String {
        if id == nil, knownName == name, let known { return known }
        return identity
    }
}
