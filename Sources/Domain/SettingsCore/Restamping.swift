/// New stamps for changes in the outbox, after this host's wall clock was far ahead (`clockSkew`) or wrong since boot
/// (Docs/SettingsAndRebuild.md#stamps).
extension HybridClock {
    package struct Waiting: Hashable, Sendable {
        package var stamp: Stamp
        /// Corrected time of the change, in milliseconds since 1970; nil if the stamp is right.
        package var physical: UInt64?

        package init(stamp: Stamp, physical: UInt64?) {
            self.stamp = stamp
            self.physical = physical
        }

        /// For a stamp that the cloud refuses as too far ahead. A stamp up to `now` is kept.
        ///
        /// - Parameter now: corrected time, in milliseconds since 1970.
        package init(refused stamp: Stamp, now: UInt64) {
            self.init(stamp: stamp, physical: stamp.milliseconds > now ? now : nil)
        }

        /// For a change dated by the boot-time clock. A stamp off by at most a minute is kept.
        ///
        /// - Parameter physical: corrected time of the change, in milliseconds since 1970.
        package init(stamp: Stamp, made physical: UInt64) {
            let difference =
                max(stamp.milliseconds, physical) - min(stamp.milliseconds, physical)
            self.init(stamp: stamp, physical: difference > StampLimit.ahead ? physical : nil)
        }
    }

    /// Sets the clock back to `accepted` and issues new stamps from there.
    ///
    /// The changes keep their order, because a write after a deletion must not precede it. So even a right stamp
    /// changes if an earlier change would get a later stamp.
    ///
    /// - Parameter accepted: the greatest stamp that the cloud accepted from this host or sent to it, if any.
    /// - Returns: the new stamp of each change; nil if it keeps its own.
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
    /// Replaces stamps of properties or of the deletion. Only for changes that no other replica has seen, because the
    /// new stamps may be smaller.
    ///
    /// Pass all changes of a record in one call: between two calls, a deletion could be younger than a write that
    /// follows it.
    ///
    /// - Parameter changes: a nil property means the deletion.
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
