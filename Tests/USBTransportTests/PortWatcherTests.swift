import Domain
import MeterCodec
import MeterTestKit
import Testing

@testable import USBTransport

@Suite(.timeLimit(.minutes(10)))
struct PortWatcherTests {
    @Test func meters_appearAndVanish_asTheirPortsDo() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let port = DeclaredPort(.serial(path: system.deviceFolder + "/rfcomm0"), model: .um25c)
        let watcher = PortWatcher(
            scanner: system.scanner(), declared: [port], interval: .milliseconds(300), loop: loop)
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let sighting = Sighting(
            id: .port(host: "pi", path: port.path), model: .um25c, name: nil, link: .serial(path: port.path))
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()

        await loop.timers(reach: 1)
        let path = try system.addNode("rfcomm0")
        loop.advance(by: .milliseconds(450))
        #expect(await iterator.next() == .appeared(sighting))

        try system.remove(path)
        loop.advance(by: .milliseconds(450))
        #expect(await iterator.next() == .vanished(sighting))

        watching.cancel()
        await watching.value
        #expect(loop.pendingTimers == 0)
    }

    @Test func link_andWhatItPointsTo_areOnePort() throws {
        let system = try FakeSystem()
        let watcher = PortWatcher(scanner: system.scanner(), loop: VirtualLoop())
        let link = try system.addNode("by-id", as: "/dev/zero")

        #expect(watcher.isSamePort(link, "/dev/zero"))
        #expect(!watcher.isSamePort(link, "/dev/null"))
        #expect(watcher.isSamePort("/dev/nowhere", "/dev/nowhere"))
        #expect(!watcher.isSamePort("/dev/nowhere", "/dev/elsewhere"))
    }

    @Test func portDeclaredLater_isWatched_andDeclaringAgainReplaces() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let watcher = PortWatcher(scanner: system.scanner(), loop: loop)
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        await loop.timers(reach: 1)
        let path = try system.addNode("rfcomm0")

        watcher.watch(DeclaredPort(.serial(path: path), model: .um25c))
        guard case .appeared(let first) = await iterator.next() else { throw TestFailure() }
        #expect(first.model == .um25c)

        watcher.watch(DeclaredPort(.serial(path: path), model: .um34c))
        #expect(await iterator.next() == .vanished(first))
        guard case .appeared(let second) = await iterator.next() else { throw TestFailure() }
        #expect(second.model == .um34c)

        try system.remove(path)
        loop.advance(by: .seconds(2))
        #expect(await iterator.next() == .vanished(second))

        watching.cancel()
        await watching.value
    }

    /// Only a connection tells whether a board is in the network. It has one host, whatever it was called before.
    @Test func boardInTheNetwork_isThere_underItsLastHost() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let board = DeclaredPort(
            .network(host: "shelf.local"), model: .esphome, id: .mac(MACAddress(bits: 1)), name: "Shelf")
        let watcher = PortWatcher(scanner: system.scanner(), declared: [board], loop: loop)
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        let first = Sighting(id: .mac(MACAddress(bits: 1)), model: .esphome, name: "Shelf", link: board.link)
        #expect(await iterator.next() == .appeared(first))

        var renamed = board
        renamed.link = .network(host: "192.168.1.20:6054")
        watcher.watch(renamed)
        #expect(await iterator.next() == .vanished(first))
        guard case .appeared(let second) = await iterator.next() else { throw TestFailure() }
        #expect(second.link == .network(host: "192.168.1.20:6054"))
        watching.cancel()
        await watching.value
    }

    // MARK: Hot-plug events

    private let tc66 = ["idVendor": "28e9", "idProduct": "028a", "manufacturer": "RuiDeng", "product": "TC66"]

    @Test func event_makesItLook_withoutATick() async throws {
        let system = try FakeSystem()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        let watcher = PortWatcher(scanner: system.scanner(), loop: VirtualLoop(), listen: { plugs })
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

    /// indilib/indi issue 1444, networkupstools/nut issue 1273: two devices of one kind with one serial number.
    @Test func meterKeepsItsID_whileATwinComesAndGoes() async throws {
        let system = try FakeSystem()
        let twin = (PublishedDevice.named("FNB58")?.attributes ?? [:]).merging(["serial": "S1"]) { $1 }
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        let watcher = PortWatcher(scanner: system.scanner(), loop: VirtualLoop(), listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        func next() async -> String? {
            switch await iterator.next() {
            case .appeared(let sighting): "+\(sighting.id)"
            case .vanished(let sighting): "-\(sighting.id)"
            case .heard, nil: nil
            }
        }
        func plugIn(_ port: String, _ node: String) throws {
            let path = try system.addNode(node)
            try system.addDevice(node, port: port, interface: 3, depth: 2, attributes: twin)
            plug.yield([PlugEvent(node: path, isGone: false)])
        }
        try plugIn("1-1", "hidraw0")
        #expect(await next() == "+usb:2e3c:5558:S1")
        try plugIn("1-2", "hidraw1")
        #expect(await next() == "+usb:2e3c:5558:pi:1-2")
        try system.remove(system.deviceFolder + "/hidraw1")
        plug.yield([])
        #expect(await next() == "-usb:2e3c:5558:pi:1-2")
        try system.remove(system.deviceFolder + "/hidraw0")
        plug.yield([])
        #expect(await next() == "-usb:2e3c:5558:S1")
        watching.cancel()
        await watching.value
    }

    @Test func eventsThatEnd_leaveTheTicks() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        let watcher = PortWatcher(scanner: system.scanner(), loop: loop, listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        plug.finish()

        await loop.timers(reach: 1)
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        // It may not know yet that there are no more events, and then takes sixty times as long.
        loop.advance(by: .seconds(61))
        guard case .appeared = await iterator.next() else { throw TestFailure() }

        watching.cancel()
        await watching.value
    }

    @Test func silentEvents_doNotHideAMeter_forLong() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        defer { plug.finish() }
        let watcher = PortWatcher(scanner: system.scanner(), loop: loop, listen: { plugs })
        let (events, report) = AsyncStream.makeStream(of: SightingEvent.self)
        let watching = Task { await watcher.run { report.yield($0) } }
        var iterator = events.makeAsyncIterator()
        await loop.timers(reach: 1)
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        loop.advance(by: .seconds(61))
        guard case .appeared = await iterator.next() else { throw TestFailure() }
        watching.cancel()
        await watching.value
    }

    /// Each wake of a machine costs, and one that has nothing to do costs a battery.
    @Test func watcherThatHears_wakesOnceInSixtyIntervals_untilAPortIsDeclared() async throws {
        let system = try FakeSystem()
        let loop = VirtualLoop()
        let (plugs, plug) = AsyncStream.makeStream(of: [PlugEvent].self)
        defer { plug.finish() }
        let watcher = PortWatcher(scanner: system.scanner(), loop: loop, listen: { plugs })
        let watching = Task { await watcher.run { _ in } }
        await loop.timers(reach: 1)

        #expect(loop.timersRun(in: .seconds(121)) == 2)
        watcher.watch(DeclaredPort(.serial(path: system.deviceFolder + "/rfcomm0"), model: .um25c))
        #expect(loop.timersRun(in: .seconds(60)) == 40)

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
