/// Clock for the stamps of this host's writes. Its time is never behind a stamp it has seen, even after a restart with
/// a slow wall clock. For this, the caller persists the clock's high-water mark with each write.
package struct HybridClock: Hashable, Sendable {
    package let host: HostID
    /// The greatest time issued or seen.
    package private(set) var milliseconds: UInt64
    package private(set) var counter: UInt16

    package init(host: HostID, milliseconds: UInt64 = 0, counter: UInt16 = 0) {
        self.host = host
        self.milliseconds = min(milliseconds, Stamp.millisecondsMax)
        self.counter = counter
    }

    /// Returns a stamp greater than any issued or seen before.
    ///
    /// - Parameter physical: the corrected wall clock, in milliseconds since 1970.
    package mutating func tick(physical: UInt64) -> Stamp {
        let physical = min(physical, Stamp.millisecondsMax)
        if physical > milliseconds {
            (milliseconds, counter) = (physical, 0)
        } else if counter < .max {
            counter += 1
        } else if milliseconds < Stamp.millisecondsMax {
            // The counter overflowed: use the next millisecond. At `Stamp.millisecondsMax` the last stamp is issued
            // again.
            (milliseconds, counter) = (milliseconds + 1, 0)
        }
        return Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    /// Makes later stamps greater than `stamp`.
    package mutating func observe(_ stamp: Stamp) {
        guard (stamp.milliseconds, stamp.counter) > (milliseconds, counter) else { return }
        (milliseconds, counter) = (stamp.milliseconds, stamp.counter)
    }

    /// Lowers the high-water mark after the cloud refused stamps as too far ahead (`clockSkew`).
    ///
    /// - Parameter stamp: the greatest stamp that the cloud accepted from this host or sent to it; nil (lowers to 0) if
    ///   there is none.
    package mutating func lower(to stamp: Stamp?) {
        let target: (UInt64, UInt16) = stamp.map { ($0.milliseconds, $0.counter) } ?? (0, 0)
        guard target < (milliseconds, counter) else { return }
        (milliseconds, counter) = target
    }
}
