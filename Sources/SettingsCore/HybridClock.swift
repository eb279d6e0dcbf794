package import MeterModel

/// The clock that stamps this host's writes: never behind anything it has seen, close to the wall clock.
///
/// Reads no clock itself. Its high-water mark is persisted together with whatever used it, so that a restart with a
/// wall clock in the past goes on where it was.
package struct HybridClock: Hashable, Sendable {
    package let host: HostID
    /// The greatest time given out or seen.
    package private(set) var milliseconds: UInt64
    package private(set) var counter: UInt16

    package init(host: HostID, milliseconds: UInt64 = 0, counter: UInt16 = 0) {
        self.host = host
        self.milliseconds = min(milliseconds, Stamp.millisecondsMax)
        self.counter = counter
    }

    /// A stamp for a local write, greater than any given out or seen before.
    ///
    /// - Parameter physical: the corrected wall clock, in milliseconds since 1970. One that is behind does no harm.
    package mutating func tick(physical: UInt64) -> Stamp {
        let physical = min(physical, Stamp.millisecondsMax)
        if physical > milliseconds {
            (milliseconds, counter) = (physical, 0)
        } else if counter < .max {
            counter += 1
        } else if milliseconds < Stamp.millisecondsMax {
            // The counter ran over: borrow the next millisecond. At the very end of time nothing is left to borrow, and
            // the last stamp is given out again.
            (milliseconds, counter) = (milliseconds + 1, 0)
        }
        return Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    /// A stamp that came from somewhere else: later writes here will be greater.
    package mutating func observe(_ stamp: Stamp) {
        guard (stamp.milliseconds, stamp.counter) > (milliseconds, counter) else { return }
        (milliseconds, counter) = (stamp.milliseconds, stamp.counter)
    }

    /// Takes the high-water mark down after the cloud refused stamps as too far ahead (`clockSkew`).
    ///
    /// - Parameter stamp: the greatest that the cloud ever accepted from here or sent; nil means none.
    package mutating func lower(to stamp: Stamp?) {
        let target: (UInt64, UInt16) = stamp.map { ($0.milliseconds, $0.counter) } ?? (0, 0)
        guard target < (milliseconds, counter) else { return }
        (milliseconds, counter) = target
    }
}
