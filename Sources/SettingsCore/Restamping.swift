/// Stamping what waits in the outbox anew, after the host's calendar turned out to be wrong: far ahead, so that the
/// cloud refused (`clockSkew`), or off since the host booted (leases-and-sync.md, section 2).
extension HybridClock {
    /// A change that waits, and when it was really made, where that is not what its stamp says.
    package struct Waiting: Hashable, Sendable {
        package var stamp: Stamp
        /// Corrected, milliseconds since 1970. nil: the stamp is right and stays.
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

    /// Goes down to what the cloud knows, and stamps the changes that wait anew, from there on, in their order.
    ///
    /// - Parameters:
    ///   - waiting: in the order in which they were made.
    ///   - accepted: the greatest stamp that the cloud ever accepted from here or sent; nil: none.
    /// - Returns: for each the stamp that it gets, nil where it keeps its own.
    package mutating func restamp(_ waiting: [Waiting], accepted: Stamp?) -> [Stamp?] {
        lower(to: accepted)
        for kept in waiting where kept.physical == nil { observe(kept.stamp) }
        return waiting.map { $0.physical.map { tick(physical: $0) } }
    }
}

extension Record {
    /// Gives a register, or the deletion, another stamp, where it still has the one that is meant.
    ///
    /// No merge: the new stamp may be smaller. Only for what no other replica has seen.
    ///
    /// - Parameter property: nil: the deletion.
    package mutating func restamp(_ property: String?, from old: Stamp, to new: Stamp) {
        var properties = self.properties
        var deletion = self.deletion
        if let property {
            guard properties[property]?.stamp == old else { return }
            properties[property]?.stamp = new
        } else {
            guard deletion?.stamp == old else { return }
            deletion?.stamp = new
        }
        self = Record(key: key, properties: properties, deletion: deletion)
    }
}
