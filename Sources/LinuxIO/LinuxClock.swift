import CLinux
package import Domain
import Glibc

package enum LinuxClock {
    /// Time since boot, including suspended time.
    package static var now: MonotonicTime { MonotonicTime(sinceOrigin: .nanoseconds(bootNanoseconds)) }

    package static var wallNow: WallTime {
        let time = read(CLOCK_REALTIME)
        return WallTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Returns the offset from UTC of this machine's time zone, or of the environment's `TZ`.
    package static func zoneOffset(at moment: WallTime) -> Duration {
        let milliseconds = moment.millisecondsSince1970
        var seconds = time_t(milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return .zero }
        return .seconds(local.tm_gmtoff)
    }

    /// Returns a zone's file in the system's time zone database, if any.
    ///
    /// - Parameter name: such as `Europe/Berlin`. The caller must check that it stays in the database's folder.
    package static func zoneFile(named name: String) -> [UInt8]? {
        FileTree.bytes(at: "/usr/share/zoneinfo/\(name)", atMost: 1 << 20)
    }

    static var bootNanoseconds: Int64 {
        let time = read(CLOCK_BOOTTIME)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    /// Whether a service such as NTP synchronises the system clock; nil if unknown.
    package static var isSynchronised: Bool? {
        let answer = cl_clock_is_synchronised()
        return answer < 0 ? nil : answer == 1
    }
}
