package import Cloud
import Domain
import LinuxIO

extension CloudClock {
    /// Boot-time clock: Swift's `ContinuousClock` is the clock that `LinuxClock` reads.
    package static var system: CloudClock {
        CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            isConfirmed: { LinuxClock.isSynchronised == true },
            sleep: { time in try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now)) })
    }
}
