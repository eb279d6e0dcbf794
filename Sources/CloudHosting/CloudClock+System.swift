package import Cloud
import Domain
import LinuxIO

extension CloudClock {
    /// Clocks of this machine. `ContinuousClock` is the boot-time clock that `LinuxClock` reads, so `sleep` may use it.
    package static var system: CloudClock {
        CloudClock(
            now: { LinuxClock.now }, wallNow: { LinuxClock.wallNow },
            isConfirmed: { LinuxClock.isSynchronised == true },
            sleep: { time in try await ContinuousClock().sleep(for: max(.zero, time - LinuxClock.now)) })
    }
}
