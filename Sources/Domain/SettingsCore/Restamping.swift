/// New stamps for changes in the outbox after the host's calendar was wrong: far ahead (`clockSkew`), or wrong since
/// the host booted (Docs/SettingsAndRebuild.md#stamps).
extension HybridClock {
    package struct Waiting: Hashable, Sendable {
        package var stamp: Stamp
        /// Corrected time of the change, in milliseconds since 1970; nil if the stamp is right.
        package var physical: UInt64?

        package init(stamp: Stamp, physical: UInt64?) {
            self.stamp = stamp
            self.physical = physical
        }

        /// Creates the entry for a stamp that the cloud refused or would refuse. A stamp not after `now` is kept.
        ///
        /// - Parameter now: corrected time, in milliseconds since 1970.
        package init(refused stamp: Stamp, now: UInt64) {
            self.init(stamp: stamp, physical: stamp.milliseconds > now ? now : nil)
        }

        /// Creates the entry for a change that the boot-time clock can date. A stamp off by at most a minute is kept.
        package init(stamp: Stamp, made physical: UInt64) {
            let difference =
                max(stamp.milliseconds, physical) - min(stamp.milliseconds, physical)
            self.init(stamp: stamp, physical: difference > StampLimit.ahead ? physical : nil)
        }
    }

    /// Lowers the clock to the cloud's greatest accepted stamp and issues new stamps from there.
    ///
    /// The changes keep the order of their stamps, because a write after a deletion must not precede the deletion. So
    /// even a right stamp changes if an earlier change would get a later stamp.
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
    /// Replaces old stamps of registers or the deletion.
    ///
    /// Not a merge: the new stamps may be smaller. Use it only for changes that no other replica has seen. Pass all
    /// changes of a record in one call. Between two calls, a deletion could be younger than a write that follows it.
    ///
    /// - Parameter changes: old and new stamp of each property; a nil property means the deletion.
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
