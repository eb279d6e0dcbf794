import Cloud
import Domain
import Synchronization

final class LeaseCache: Sendable {
    private struct Zone {
        var leases: [String: SeenLease] = [:]
        /// Revision of etcd up to which this cache is complete; 0 before the first read.
        var readThrough: Int64 = 0
    }

    private let zones = Mutex<[String: Zone]>([:])

    func lease(_ place: MeterPlace) -> SeenLease { zones.withLock { $0[place.zone]?.leases[place.meter] ?? .unknown } }

    /// Caches a lease, unless the cache has a newer one. An unchanged lease keeps the time of the first read.
    ///
    /// - Returns: the current lease, and whether `seen` is a newer version by another replica.
    @discardableResult
    func update(_ seen: SeenLease, at place: MeterPlace, isOwn: Bool = false) -> (seen: SeenLease, isNews: Bool) {
        zones.withLock { zones in
            let known = zones[place.zone]?.leases[place.meter] ?? .unknown
            let isNews = seen.revision > known.revision
            var next = known
            if isNews {
                next = SeenLease(record: seen.record, revision: seen.revision, pulse: known.pulse)
                if let before = known.record, seen.record?.isRevocation(of: before) == true {
                    next.record?.renewedAt = before.renewedAt
                }
            }
            if seen.pulse > known.pulse {
                next.pulse = seen.pulse
                if let time = seen.record?.renewedAt { next.record?.heard(at: time) }
            }
            guard next != known else { return (known, false) }
            zones[place.zone, default: Zone()].leases[place.meter] = next
            return (next, isNews && !isOwn)
        }
    }

    func update(pulse: Int64, at place: MeterPlace, now: MonotonicTime) {
        zones.withLock { zones in
            guard var known = zones[place.zone]?.leases[place.meter], pulse > known.pulse else { return }
            known.pulse = pulse
            known.record?.heard(at: now)
            zones[place.zone]?.leases[place.meter] = known
        }
    }

    func readThrough(_ zone: String) -> Int64 { zones.withLock { $0[zone]?.readThrough ?? 0 } }

    func wasRead(_ zone: String, through revision: Int64) {
        zones.withLock { zones in
            let known = zones[zone]?.readThrough ?? 0
            zones[zone, default: Zone()].readThrough = max(known, revision)
        }
    }

    func all(in zone: String) -> [(meter: String, record: LeaseRecord)] {
        let leases = zones.withLock { $0[zone]?.leases ?? [:] }
        return leases.compactMap { meter, seen in seen.record.map { (meter: meter, record: $0) } }
            .sorted { $0.meter < $1.meter }
    }

    var heldCount: Int {
        zones.withLock { zones in
            zones.values.reduce(0) { count, zone in
                count + zone.leases.values.reduce(0) { $0 + ($1.record?.holder == nil ? 0 : 1) }
            }
        }
    }
}

extension LeaseRecord {
    /// Returns whether the only change is a request to the holder to stop, which is not a renewal.
    fileprivate func isRevocation(of before: LeaseRecord) -> Bool {
        guard case .held(let holder) = before.state, state == .revoking(holder) else { return false }
        return token == before.token && terms == before.terms && grants == before.grants
    }

    /// Moves the renewal time only forward, because answers may arrive out of order.
    fileprivate mutating func heard(at time: MonotonicTime) { renewedAt = max(renewedAt, time) }
}
