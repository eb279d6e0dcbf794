package import Cloud
import Domain
import LinuxIO

extension CloudClock {
    /// Swift's `ContinuousClock` is the boot-time clock that `LinuxClock` reads.
    package static var system: CloudClock {
        CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            isConfirmed: { LinuxClock.isSynchronised == true },
            sleep: { time in try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now)) })
    }
}
