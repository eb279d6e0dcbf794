package import Cloud
import Domain
import LinuxIO

extension CloudClock {
    /// Clock of this machine. It sleeps on Swift's `ContinuousClock`, which is the boot-time clock that `LinuxClock`
    /// reads.
    package static var system: CloudClock {
        CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            isConfirmed: { LinuxClock.isSynchronised == true },
            sleep: { time in try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now)) })
    }
}
