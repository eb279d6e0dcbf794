import SimulatedCloud

/// One event stream on its way from the cloud to a host: it keeps its order, and breaks where something of it is lost.
final class NetworkStream: @unchecked Sendable {
    private let world: World
    /// Hears that it is broken, once.
    private let broken: (String) -> Void
    private var serving: Task<Void, Never>?
    private(set) var isBroken = false
    private var lastArrival: TrueTime = 0

    init(_ world: World, broken: @escaping (String) -> Void) {
        self.world = world
        self.broken = broken
    }

    /// When what is sent now arrives, after everything that was sent before.
    func arrival(after delay: TrueTime) -> TrueTime {
        lastArrival = max(lastArrival, world.now + delay)
        return lastArrival
    }

    /// The cloud's side, until it ends or the stream is broken.
    func serve(_ body: @escaping @Sendable () async -> Void) async {
        guard !isBroken else { return }
        let task = Task(executorPreference: world.thread) { await body() }
        serving = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Both sides notice, each in its own time.
    func breaks(_ why: String) {
        guard !isBroken else { return }
        isBroken = true
        world.at(world.some(20 * .second)) { [self] in serving?.cancel() }
        world.at(world.some(15 * .second)) { [self] in broken(why) }
    }

    /// The host lets go of it.
    func close() {
        guard !isBroken else { return }
        isBroken = true
        world.at(world.some(.second)) { [self] in serving?.cancel() }
    }
}
