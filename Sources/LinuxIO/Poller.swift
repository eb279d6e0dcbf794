import CLinux
import Glibc

/// Waits for descriptors, one alarm and a wake-up from another thread (epoll, timerfd, eventfd). Only `wake` is
/// callable from any thread.
final class Poller {
    typealias Handler = @Sendable (Readiness) -> Void

    private let epoll: FileDescriptor
    private let wakeup: FileDescriptor
    private let alarm: FileDescriptor
    private var events = [epoll_event](repeating: epoll_event(), count: 64)
    private var handlers: [Registration?] = []
    private var generation: UInt32 = 0
    /// Boot-time nanoseconds; .max while the alarm is off.
    private var alarmTime = Int64.max

    private struct Registration {
        var generation: UInt32
        var handler: Handler
    }

    private static let ownMark = UInt64.max

    init() throws(Errno) {
        epoll = FileDescriptor(owning: try Errno.check { epoll_create1(cl_epoll_cloexec) })
        wakeup = FileDescriptor(owning: try Errno.check { eventfd(0, cl_eventfd_flags) })
        // With the boot-time clock, a timer that expires during suspend runs right after it.
        alarm = FileDescriptor(owning: try Errno.check { timerfd_create(CLOCK_BOOTTIME, cl_timerfd_flags) })
        // Edge-triggered: each wake-up and each expiry is one event, without a read to clear it.
        for own in [wakeup, alarm] {
            try control(EPOLL_CTL_ADD, own, cl_epoll_in | cl_epoll_edge, mark: Self.ownMark)
        }
    }

    func register(_ descriptor: FileDescriptor, _ interest: Readiness, _ handler: @escaping Handler) throws(Errno) {
        let number = Int(descriptor.raw)
        guard number >= 0 else { throw Errno(EBADF) }
        generation &+= 1
        try control(EPOLL_CTL_ADD, descriptor, interest.rawValue, mark: mark(descriptor, generation))
        while handlers.count <= number { handlers.append(nil) }
        handlers[number] = Registration(generation: generation, handler: handler)
    }

    func modify(_ descriptor: FileDescriptor, _ interest: Readiness) throws(Errno) {
        let number = Int(descriptor.raw)
        guard handlers.indices.contains(number), let registration = handlers[number] else { throw Errno(ENOENT) }
        let mark = mark(descriptor, registration.generation)
        try control(EPOLL_CTL_MOD, descriptor, interest.rawValue, mark: mark)
    }

    func unregister(_ descriptor: FileDescriptor) {
        let number = Int(descriptor.raw)
        guard handlers.indices.contains(number), handlers[number] != nil else { return }
        handlers[number] = nil
        // Fails only for a descriptor that is not registered with epoll.
        _ = epoll_ctl(epoll.raw, EPOLL_CTL_DEL, descriptor.raw, nil)
    }

    func wake() {
        var one: UInt64 = 1
        _ = Glibc.write(wakeup.raw, &one, 8)
    }

    /// - Parameters:
    ///   - deadline: boot-time nanoseconds; nil for none. An outdated alarm may end the wait earlier.
    ///   - blocking: false only checks the descriptors.
    func wait(until deadline: Int64?, blocking: Bool) throws(Errno) {
        if blocking, let deadline { try setAlarm(deadline) }
        let capacity = Int32(events.count)
        let count = try Errno.check { epoll_wait(epoll.raw, &events, capacity, blocking ? -1 : 0) }
        for index in 0..<Int(count) { dispatch(events[index]) }
    }

    private func dispatch(_ event: epoll_event) {
        var event = event
        let mark = cl_epoll_data(&event)
        guard mark != Self.ownMark else {
            if alarmTime <= LinuxClock.bootNanoseconds { alarmTime = .max }
            return
        }
        let number = Int(mark & 0xFFFF_FFFF)
        // An earlier handler of this batch may have closed the descriptor, whose number may be in use again.
        guard let registration = handlers[number], registration.generation == UInt32(mark >> 32) else { return }
        registration.handler(Readiness(rawValue: event.events))
    }

    /// Sets the alarm, unless an earlier one is set. A cancelled timer does not clear its alarm: one needless turn of
    /// the loop costs less than a system call for each timer.
    private func setAlarm(_ time: Int64) throws(Errno) {
        guard time < alarmTime else { return }
        let (seconds, nanoseconds) = max(1, time).quotientAndRemainder(dividingBy: 1_000_000_000)
        var setting = itimerspec()
        setting.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
        try Errno.check { timerfd_settime(alarm.raw, cl_timerfd_absolute, &setting, nil) }
        alarmTime = time
    }

    private func mark(_ descriptor: FileDescriptor, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor.raw))
    }

    private func control(
        _ operation: Int32, _ descriptor: FileDescriptor, _ events: UInt32, mark: UInt64
    ) throws(Errno) {
        var event = cl_epoll_event(events, mark)
        try Errno.check { epoll_ctl(epoll.raw, operation, descriptor.raw, &event) }
    }
}
