/// New stamps for changes in the outbox after the host's calendar was wrong: far ahead (`clockSkew`), or off since the
/// host booted (Docs/SettingsAndRebuild.md#stamps).
extension HybridClock {
    package struct Waiting: Hashable, Sendable {
        package var stamp: Stamp
        /// True time, corrected, in milliseconds since 1970; nil if the stamp is right.
        package var physical: UInt64?

        package init(stamp: Stamp, physical: UInt64?) {
            self.stamp = stamp
            self.physical = physical
        }

        /// Entry for a stamp that the cloud refused or would refuse. A stamp not after `now` stays.
        ///
        /// - Parameter now: corrected, in milliseconds since 1970.
        package init(refused stamp: Stamp, now: UInt64) {
            self.init(stamp: stamp, physical: stamp.milliseconds > now ? now : nil)
        }

        /// Entry for a change that the boot-time clock can date. A stamp off by at most a minute stays.
        package init(stamp: Stamp, made physical: UInt64) {
            let difference =
                max(stamp.milliseconds, physical) - min(stamp.milliseconds, physical)
            self.init(stamp: stamp, physical: difference > StampLimit.ahead ? physical : nil)
        }
    }

    /// Lowers the clock to what the cloud knows and issues new stamps from there.
    ///
    /// The changes keep the order of their stamps, because a write after a deletion must not come before it. So even a
    /// right stamp moves if an earlier change would come after it.
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
    /// changes of a record at once: in between, a deletion may be younger than a write after it.
    ///
    /// - Parameter changes: with a nil property for the deletion.
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
