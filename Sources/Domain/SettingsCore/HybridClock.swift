/// The clock that stamps this host's writes: never behind anything it has seen, and close to the wall clock.
///
/// Does not read a clock itself. Its high-water mark is persisted together with whatever used it, so that after a
/// restart with a wall clock in the past it continues where it was.
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

    /// A stamp for a local write, greater than any issued or seen before.
    ///
    /// - Parameter physical: the corrected wall clock, in milliseconds since 1970. One that is behind does no harm.
    package mutating func tick(physical: UInt64) -> Stamp {
        let physical = min(physical, Stamp.millisecondsMax)
        if physical > milliseconds {
            (milliseconds, counter) = (physical, 0)
        } else if counter < .max {
            counter += 1
        } else if milliseconds < Stamp.millisecondsMax {
            // The counter overflowed: borrow the next millisecond. At the very end of time there is nothing left to
            // borrow, and the last stamp is issued again.
            (milliseconds, counter) = (milliseconds + 1, 0)
        }
        return Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    /// Takes in a stamp from elsewhere: later writes here will be greater.
    package mutating func observe(_ stamp: Stamp) {
        guard (stamp.milliseconds, stamp.counter) > (milliseconds, counter) else { return }
        (milliseconds, counter) = (stamp.milliseconds, stamp.counter)
    }

    /// Lowers the high-water mark after the cloud refused stamps as too far ahead (`clockSkew`).
    ///
    /// - Parameter stamp: the greatest that the cloud ever accepted from this host or sent to it, if any.
    package mutating func lower(to stamp: Stamp?) {
        let target: (UInt64, UInt16) = stamp.map { ($0.milliseconds, $0.counter) } ?? (0, 0)
        guard target < (milliseconds, counter) else { return }
        (milliseconds, counter) = target
    }
}
