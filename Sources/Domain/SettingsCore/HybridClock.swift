/// Hybrid logical clock for the stamps of this host's writes. The caller persists it with each write, so that a slow
/// wall clock after a restart cannot lower it.
package struct HybridClock: Hashable, Sendable {
    package let host: HostID
    /// Greatest time of a stamp issued or observed, in milliseconds since 1970.
    package private(set) var milliseconds: UInt64
    package private(set) var counter: UInt16

    package init(host: HostID, milliseconds: UInt64 = 0, counter: UInt16 = 0) {
        self.host = host
        self.milliseconds = min(milliseconds, Stamp.millisecondsMax)
        self.counter = counter
    }

    /// Returns a stamp greater than any issued or observed.
    ///
    /// - Parameter physical: the corrected wall clock, in milliseconds since 1970.
    package mutating func tick(physical: UInt64) -> Stamp {
        let physical = min(physical, Stamp.millisecondsMax)
        if physical > milliseconds {
            (milliseconds, counter) = (physical, 0)
        } else if counter < .max {
            counter += 1
        } else if milliseconds < Stamp.millisecondsMax {
            // The counter overflowed, so advance the time. At `Stamp.millisecondsMax`, the last stamp is repeated
            // instead.
            (milliseconds, counter) = (milliseconds + 1, 0)
        }
        return Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    /// Makes every stamp issued from now on greater than `stamp`.
    package mutating func observe(_ stamp: Stamp) {
        guard (stamp.milliseconds, stamp.counter) > (milliseconds, counter) else { return }
        (milliseconds, counter) = (stamp.milliseconds, stamp.counter)
    }

    /// Sets the clock back after the cloud refused stamps as too far ahead (`clockSkew`).
    ///
    /// - Parameter stamp: the greatest stamp that the cloud accepted from this host or sent to it; nil (no such stamp)
    ///   sets the clock to 0.
    package mutating func lower(to stamp: Stamp?) {
        let target: (UInt64, UInt16) = stamp.map { ($0.milliseconds, $0.counter) } ?? (0, 0)
        guard target < (milliseconds, counter) else { return }
        (milliseconds, counter) = target
    }
}
