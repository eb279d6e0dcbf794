import CBenchmarks
import Glibc

/// What is measured with. All in seconds.
enum Clocks {
    /// Wall time since any moment.
    static var wall: Double { read(CLOCK_MONOTONIC) }
    /// Processor time of this thread.
    static var thread: Double { read(CLOCK_THREAD_CPUTIME_ID) }
    /// Processor time of this process, without its children.
    static var process: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Processor time of another process, all its threads.
    static func process(_ pid: pid_t) -> Double { Double(cb_process_cpu(pid)) / 1e9 }

    /// Waits without using the processor. Benchmarks measure real time, so here it is real waiting.
    static func pause(_ seconds: Double) { pause(until: wall + seconds) }

    static func pause(until moment: Double) {
        var time = timespec(tv_sec: Int(moment), tv_nsec: Int((moment - moment.rounded(.down)) * 1e9))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// As `pause`, and lets others have the thread meanwhile.
    static func wait(until moment: Double) async throws {
        try await ContinuousClock().sleep(for: .seconds(moment - wall))
    }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
