package import IOPorts
import LinuxIO
package import MeterModel
import Synchronization

/// Watches for meters at this host's plugs: looks when hot-plug events say that something happened, and again and again
/// for what they do not tell.
///
/// udev knows nothing of pseudo-terminals and links, which may be declared; and in containers its events do not arrive.
/// So declared ports are looked at at each interval, and all the rest as well where there are no events. Where there
/// are, it is looked at every tenth time all the same: udevd may have been told to stop.
package final class PortWatcher<WatchClock: Clock>: PortSource where WatchClock.Duration == Duration {
    /// Hot-plug events, from when this is called; nil where there are none.
    package typealias Listen = @Sendable () -> AsyncStream<[PlugEvent]>?

    private let scanner: PortScanner
    private let interval: Duration
    private let clock: WatchClock
    private let listen: Listen
    /// In the order they were first declared.
    private let declared: Mutex<[DeclaredPort]>

    private enum Turn: Sendable {
        case tick
        case plugs([PlugEvent])
        /// There are no more events.
        case deaf
    }

    private static var ticksPerFullLook: Int { 10 }

    /// - Parameters:
    ///   - declared: the ports that the configuration names.
    ///   - interval: how long between two looks.
    ///   - listen: called once each time it runs.
    package init(
        scanner: PortScanner, declared: [DeclaredPort] = [], interval: Duration = .seconds(1), clock: WatchClock,
        listen: @escaping Listen = { nil }
    ) {
        self.scanner = scanner
        self.interval = interval
        self.clock = clock
        self.listen = listen
        self.declared = Mutex([])
        for port in declared { watch(port) }
    }

    package func watch(_ port: DeclaredPort) {
        declared.withLock { declared in
            if let index = declared.firstIndex(where: { $0.path == port.path }) {
                declared[index] = port
            } else {
                declared.append(port)
            }
        }
    }

    /// A person declared a raw HID device at this path.
    package func declaresRawHID(at path: String) -> Bool {
        declared.withLock { $0.contains { $0.isRawHID && $0.path == path } }
    }

    package func isSamePort(_ first: String, _ second: String) -> Bool {
        guard first != second else { return true }
        guard let node = FileTree.canonical(first) else { return false }
        return node == FileTree.canonical(second)
    }

    package func unwatch(_ meter: MeterID) { declared.withLock { $0.removeAll { $0.id == meter } } }

    package func isThere(_ path: String) -> Bool { FileTree.isCharacterDevice(path) }

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        let (turns, source) = AsyncStream.makeStream(of: Turn.self)
        // Before the first look: what is plugged in meanwhile is told, and looked at again.
        let events = listen()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // Throws when cancelled.
                while (try? await clock.sleep(for: interval)) != nil { source.yield(.tick) }
                source.finish()
            }
            if let events {
                group.addTask {
                    for await batch in events { source.yield(.plugs(batch)) }
                    source.yield(.deaf)
                }
            }
            await look(turns, hearing: events != nil, report)
            group.cancelAll()
        }
    }

    private func look(
        _ turns: AsyncStream<Turn>, hearing: Bool, _ report: @Sendable (SightingEvent) -> Void
    ) async {
        var isHearing = hearing
        var ticks = 0
        var sightings = SightingSet()
        var plugged = scanner.plugged()
        func tell() {
            let declared = scanner.declared(declared.withLock { $0 })
            for event in sightings.update(to: scanner.merge(declared, plugged: plugged)) { report(event) }
        }
        tell()
        for await turn in turns {
            switch turn {
            case .tick:
                ticks += 1
                if !isHearing || ticks.isMultiple(of: Self.ticksPerFullLook) { plugged = scanner.plugged() }
            case .plugs(let events):
                for event in events where event.isGone { sightings.remove(node: event.node).forEach(report) }
                plugged = scanner.plugged()
            case .deaf:
                isHearing = false
            }
            tell()
        }
    }
}
