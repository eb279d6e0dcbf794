import IOPorts
import MeterCodec
import MeterModel
import Synchronization
import Testing

@testable import USBTransport

@Suite(.timeLimit(.minutes(10)))
struct PortWatcherTests {
    /// A clock whose sleeper wakes at each `tick`. For one sleeper at a time.
    private final class StepClock: Clock {
        typealias Instant = ContinuousClock.Instant
        private let start = ContinuousClock.now
        private let ticks: AsyncStream<Void>
        private let source: AsyncStream<Void>.Continuation
        private let asked = Mutex<[Duration]>([])

        init() { (ticks, source) = AsyncStream.makeStream() }

        var now: Instant { start }
        var minimumResolution: Duration { .zero }
        /// How long the sleeper wanted to sleep, each time.
        var sleeps: [Duration] { asked.withLock { $0 } }

        func tick() { source.yield() }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            asked.withLock { $0.append(deadline - start) }
            var iterator = ticks.makeAsyncIterator()
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }

    @Test func meters_appearAndVanish_asTheirPortsDo() async throws {
        let system = try FakeSystem()
        let clock = StepClock()
        let port = DeclaredPort(path: system.deviceFolder + "/rfcomm0", model: .um25c)
        let watcher = PortWatcher(
            scanner: system.scanner(), declared: [port], interval: .milliseconds(300), clock: clock)
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let sighting = Sighting(
            id: .port(host: "pi", path: port.path), model: .um25c, name: nil, link: .serial(path: port.path))
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()

        let path = try system.addNode("rfcomm0")
        clock.tick()
        #expect(await iterator.next() == .appeared(sighting))

        try system.remove(path)
        clock.tick()
        #expect(await iterator.next() == .vanished(sighting))

        watching.cancel()
        await watching.value
        #expect(clock.sleeps.allSatisfy { $0 == .milliseconds(300) })
    }

    @Test func link_andWhatItPointsTo_areOnePort() throws {
        let system = try FakeSystem()
        let watcher = PortWatcher(scanner: system.scanner(), clock: StepClock())
        let link = try system.addNode("by-id", as: "/dev/zero")

        #expect(watcher.isSamePort(link, "/dev/zero"))
        #expect(!watcher.isSamePort(link, "/dev/null"))
        #expect(watcher.isSamePort("/dev/nowhere", "/dev/nowhere"))
        #expect(!watcher.isSamePort("/dev/nowhere", "/dev/elsewhere"))
    }

    @Test func portDeclaredLater_isWatched_andDeclaringAgainReplaces() async throws {
        let system = try FakeSystem()
        let clock = StepClock()
        let watcher = PortWatcher(scanner: system.scanner(), clock: clock)
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        let path = try system.addNode("rfcomm0")

        watcher.watch(DeclaredPort(path: path, model: .um25c))
        clock.tick()
        guard case .appeared(let first) = await iterator.next() else { throw TestFailure() }
        #expect(first.model == .um25c)

        watcher.watch(DeclaredPort(path: path, model: .um34c))
        clock.tick()
        #expect(await iterator.next() == .vanished(first))
        guard case .appeared(let second) = await iterator.next() else { throw TestFailure() }
        #expect(second.model == .um34c)

        watching.cancel()
        await watching.value
    }

    // MARK: Hot-plug events

    private let tc66 = ["idVendor": "28e9", "idProduct": "028a", "manufacturer": "RuiDeng", "product": "TC66"]

    @Test func event_makesItLook_withoutATick() async throws {
        let system = try FakeSystem()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        let watcher = PortWatcher(scanner: system.scanner(), clock: StepClock(), listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()

        let node = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        plug.yield([PlugEvent(node: node, isGone: false)])
        guard case .appeared(let sighting) = await iterator.next() else { throw TestFailure() }
        #expect(sighting.link == .serial(path: node))

        // Unplugged and plugged in again before anybody looks.
        plug.yield([PlugEvent(node: node, isGone: true), PlugEvent(node: node, isGone: false)])
        #expect(await iterator.next() == .vanished(sighting))
        #expect(await iterator.next() == .appeared(sighting))

        // Of others, and lost ones: nothing new.
        plug.yield([PlugEvent(node: "/dev/ttyACM7", isGone: true)])
        plug.yield([])
        try system.remove(node)
        plug.yield([])
        #expect(await iterator.next() == .vanished(sighting))

        watching.cancel()
        await watching.value
    }

    @Test func eventsThatEnd_leaveTheTicks() async throws {
        let system = try FakeSystem()
        let clock = StepClock()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        let watcher = PortWatcher(scanner: system.scanner(), clock: clock, listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        plug.finish()

        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        // The first ones may come before it knows that there are no more events.
        for _ in 0..<10 { clock.tick() }
        guard case .appeared = await iterator.next() else { throw TestFailure() }

        watching.cancel()
        await watching.value
    }

    @Test func silentEvents_doNotHideAMeter_forLong() async throws {
        let system = try FakeSystem()
        let clock = StepClock()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        defer { plug.finish() }
        let watcher = PortWatcher(scanner: system.scanner(), clock: clock, listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        for _ in 0..<10 { clock.tick() }
        guard case .appeared = await iterator.next() else { throw TestFailure() }
        watching.cancel()
        await watching.value
    }

    @Test func set_tellsOnlyWhatChanged_goneFirst() {
        func sighting(_ path: String) -> Sighting {
            Sighting(id: .port(host: "pi", path: path), model: nil, name: nil, link: .serial(path: path))
        }
        var set = SightingSet()
        #expect(set.update(to: [sighting("/a"), sighting("/b")]).count == 2)
        #expect(set.update(to: [sighting("/a"), sighting("/b")]).isEmpty)
        #expect(
            set.update(to: [sighting("/c"), sighting("/b")])
                == [.vanished(sighting("/a")), .appeared(sighting("/c"))])
    }

    private struct TestFailure: Error {}
}
