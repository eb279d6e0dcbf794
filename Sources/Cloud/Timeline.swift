package import CloudAPI
package import Domain

// A copied file, a machine's snapshot, or a card that reported a flush too early may reset a store to an earlier state
// than hosts have seen. Sequences do not reveal this, because other changes reuse the lost ones. So each run of the
// cloud marks its changes with a random id. Each change token contains the mark that was the newest when the token was
// issued: Docs/Decisions/0013-timelines-and-zones.md.

package struct TimelineMark: Hashable, Sendable {
    /// 1 for the zone's first mark, then counting up.
    package var number: UInt64
    /// Distinguishes marks with the same number in two diverging histories of one store.
    package var id: UInt64
    /// Sequence of the change whose transaction wrote the mark.
    package var first: UInt64

    package init(number: UInt64, id: UInt64, first: UInt64) {
        self.number = number
        self.id = id
        self.first = first
    }

    /// Creates the mark of the zone's first change in a run of the cloud.
    ///
    /// - Parameter sequence: the zone's sequence before that change.
    package init(after newest: TimelineMark?, at sequence: UInt64, id: UInt64) {
        self.init(number: (newest?.number ?? 0) &+ 1, id: id, first: sequence + 1)
    }

    /// Returns the marks that no valid change token contains any more: every change token with one of them has a
    /// sequence below the floor (greatest sequence of a purged tombstone).
    package static func outdated(_ marks: [TimelineMark], floor: UInt64) -> ArraySlice<TimelineMark> {
        marks.prefix((marks.lastIndex { $0.first <= floor }) ?? 0)
    }
}

package struct FeedState: Hashable, Sendable {
    package var zone: Zone.ID
    package var epoch: String
    /// Greatest sequence of a purged tombstone; 0 if there was none.
    package var floor: UInt64
    package var sequence: UInt64
    package var mark: TimelineMark?

    package init(zone: Zone.ID, epoch: String, floor: UInt64, sequence: UInt64, mark: TimelineMark?) {
        self.zone = zone
        self.epoch = epoch
        self.floor = floor
        self.sequence = sequence
        self.mark = mark
    }

    /// Checks whether a host may continue from a change token. Checks the floor first, so that a host that was offline
    /// for long receives `changeTokenExpired`.
    ///
    /// - Parameter marks: at least the change token's mark and the next one, if the zone has them.
    /// - Throws: `anotherZone`, `changeTokenExpired`, `timelineLost`.
    package func check(_ token: ChangeToken?, marks: [TimelineMark]) throws(CloudFailure) {
        guard let token else { return }
        guard token.origin?.zone ?? zone.description == zone.description else {
            throw failure(.anotherZone, "is another zone's")
        }
        guard token.epoch == epoch else {
            throw failure(.changeTokenExpired, "is from before this cloud was restored from a backup")
        }
        guard token.isGood(above: floor) else {
            throw failure(.changeTokenExpired, "is older than deletions that were purged since")
        }
        guard let origin = token.origin else {
            guard token.sequence <= sequence else {
                throw failure(.changeTokenExpired, "is newer than anything in this zone")
            }
            return
        }
        guard isKnown(origin, readTo: max(origin.readAt, token.sequence), marks) else {
            throw failure(.timelineLost, "is of changes that this cloud's store lost when it went back")
        }
    }

    private func isKnown(_ origin: ChangeToken.Origin, readTo read: UInt64, _ marks: [TimelineMark]) -> Bool {
        let newest = mark?.number ?? 0
        if origin.mark == newest { return origin.markID == mark?.id ?? 0 && read <= sequence }
        guard origin.mark < newest, let next = marks.first(where: { $0.number == origin.mark + 1 }) else {
            return false
        }
        let isThere =
            origin.mark == 0
            ? origin.markID == 0 : marks.contains { $0.number == origin.mark && $0.id == origin.markID }
        return isThere && read < next.first
    }

    private func failure(_ code: CloudErrorCode, _ why: String) -> CloudFailure {
        let remedy = code == .timelineLost ? "; then push everything" : ""
        var failure = CloudFailure(code, "the change token \(why); fetch everything again without one\(remedy)")
        failure.epoch = epoch
        failure.zoneID = zone.description
        return failure
    }

    /// Returns the change token from which the next page begins.
    ///
    /// - Parameters:
    ///   - last: the sequence of this page's last record; nil for an empty page.
    ///   - moreComing: false once all changes up to the zone's present sequence were read.
    package func token(after token: ChangeToken?, last: UInt64?, moreComing: Bool) -> ChangeToken {
        let origin = ChangeToken.Origin(
            zone: zone.description, mark: mark?.number ?? 0, markID: mark?.id ?? 0, readAt: sequence)
        guard moreComing else { return ChangeToken(epoch: epoch, sequence: sequence, origin: origin) }
        let start = token == nil ? floor : token?.floor
        return ChangeToken(
            epoch: epoch, sequence: last ?? token?.sequence ?? 0, floor: start, origin: origin)
    }
}

extension Zone {
    package typealias ID = UniqueID<Zone>
}

extension UniqueID<Zone> {
    /// Derives the identity of a zone that an earlier version created without one. Derived from the store's random
    /// epoch, it is the same in all replicas, and in a backup restored later.
    package init(ofEarlier zone: String, epoch: String) {
        var halves: [UInt64] = []
        for salt in ["high", "low"] {
            // FNV-1a (draft-eastlake-fnv), only to spread bits that are already random.
            halves.append(
                "\(salt) \(epoch) \(zone)".utf8
                    .reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 })
        }
        // Version 8, variant 1: a custom UUID (RFC 9562, 5.8).
        self.init(
            high: halves[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
            low: halves[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
