import Domain
import SimulatedCloud

/// The two clocks of one machine, whoever runs on it.
///
/// Unchecked, as it is used on the thread of its run alone.
final class MachineClocks: @unchecked Sendable {
    var clock: SimulatedClock

    init(clock: SimulatedClock) { self.clock = clock }
}

/// The loop of one host in one of its lives. Its clocks are the machine's.
final class MachineLoop: SessionLoop, @unchecked Sendable {
    private let life: Life
    private let machine: MachineClocks
    private var timers: [UInt64: (time: MonotonicTime, body: @Sendable () -> Void)] = [:]
    private var isCurrent = false

    init(_ life: Life, on machine: MachineClocks) {
        self.life = life
        self.machine = machine
    }

    var now: MonotonicTime { machine.clock.now(at: life.world.now) }
    var wallNow: WallTime { machine.clock.wall(at: life.world.now) }

    func schedule(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
        let id = life.world.nextID()
        timers[id] = (time, body)
        ring(id, at: time)
        return LoopTimer(id: id)
    }

    func cancel(_ timer: LoopTimer) { timers[timer.id] = nil }

    private func ring(_ id: UInt64, at time: MonotonicTime) {
        life.at(machine.clock.trueTime(of: time)) { [self] in
            guard let timer = timers[id] else { return }
            // The clock may have become slower meanwhile.
            guard timer.time <= now else { return ring(id, at: timer.time) }
            timers[id] = nil
            perform(timer.body)
        }
    }

    /// Runs `body` as a timer does.
    func perform(_ body: () -> Void) {
        isCurrent = true
        defer { isCurrent = false }
        body()
    }

    // MARK: SerialExecutor

    func enqueue(_ job: consuming ExecutorJob) { life.world.thread.enqueue(UnownedJob(job), on: self) }

    func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }

    func checkIsolated() { precondition(isCurrent, "not on the loop") }
}
