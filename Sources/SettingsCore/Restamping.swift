/// Stamping what waits in the outbox anew, after the host's calendar turned out to be wrong: far ahead, so that the
/// cloud refused (`clockSkew`), or off since the host booted (Docs/SettingsAndRebuild.md#stamps).
extension HybridClock {
    /// A change that waits, and when it was really made, where that is not what its stamp says.
    package struct Waiting: Hashable, Sendable {
        package var stamp: Stamp
        /// Corrected, milliseconds since 1970. nil means the stamp is right and stays.
        package var physical: UInt64?

        package init(stamp: Stamp, physical: UInt64?) {
            self.stamp = stamp
            self.physical = physical
        }

        /// For a stamp that the cloud refused, or would refuse: one not after `now` stays.
        ///
        /// - Parameter now: corrected, milliseconds since 1970.
        package init(refused stamp: Stamp, now: UInt64) {
            self.init(stamp: stamp, physical: stamp.milliseconds > now ? now : nil)
        }

        /// For one of which the boot-time clock tells when it was made: a stamp that is off by less than a minute, in
        /// either direction, stays.
        package init(stamp: Stamp, made physical: UInt64) {
            let difference =
                max(stamp.milliseconds, physical) - min(stamp.milliseconds, physical)
            self.init(stamp: stamp, physical: difference > StampLimit.ahead ? physical : nil)
        }
    }

    /// Goes down to what the cloud knows, and stamps the changes that wait anew, from there on.
    ///
    /// Their order, which is that of their stamps, stays: what was written after a deletion must not come before it. So
    /// a stamp that is right moves too where an earlier change would come after it.
    ///
    /// - Parameters:
    ///   - waiting: in any order.
    ///   - accepted: the greatest stamp that the cloud ever accepted from here or sent; nil means none.
    /// - Returns: for each the stamp that it gets, nil where it keeps its own.
    package mutating func restamp(_ waiting: [Waiting], accepted: Stamp?) -> [Stamp?] {
        lower(to: accepted)
        var stamps = [Stamp?](repeating: nil, count: waiting.count)
        var last: Stamp?
        for index in waiting.indices.sorted(by: { waiting[$0].stamp < waiting[$1].stamp }) {
            let change = waiting[index]
            if change.physical == nil, last.map({ $0 < change.stamp }) ?? true {
                observe(change.stamp)
            } else {
                last = tick(physical: change.physical ?? change.stamp.milliseconds)
                stamps[index] = last
            }
        }
        return stamps
    }
}

extension SyncRecord {
    /// Gives registers, or the deletion, other stamps, where they still have the ones that are meant.
    ///
    /// No merge: the new stamps may be smaller. Only for what no other replica has seen. All changes of one record at
    /// once: between them a deletion may be younger than what was written after it.
    ///
    /// - Parameter changes: property nil means the deletion.
    package mutating func restamp(_ changes: [(property: String?, old: Stamp, new: Stamp)]) {
        var properties = self.properties
        var deletion = self.deletion
        for change in changes {
            if let property = change.property {
                if properties[property]?.stamp == change.old { properties[property]?.stamp = change.new }
            } else if deletion?.stamp == change.old {
                deletion?.stamp = change.new
            }
        }
        self = SyncRecord(key: key, properties: properties, deletion: deletion)
    }
}
