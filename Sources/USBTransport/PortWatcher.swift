package import IOPorts
import LinuxIO
package import MeterModel
import Synchronization

/// Watches this host's ports for meters: looks when hot-plug events say that something happened, and regularly for what
/// they miss.
///
/// udev does not see pseudo-terminals and symbolic links, which may be declared, and its events do not reach
/// containers. So declared ports are checked at each interval, and without events all the rest as well. With events,
/// the rest is still checked every tenth time: udevd may have been stopped.
package final class PortWatcher<WatchClock: Clock>: PortSource where WatchClock.Duration == Duration {
    /// Starts hot-plug events, if there are any.
    package typealias Listen = @Sendable () -> AsyncStream<[PlugEvent]>?

    private let scanner: PortScanner
    private let interval: Duration
    private let clock: WatchClock
    private let listen: Listen
    /// Declared ports, in the order in which they were first declared.
    private let declared: Mutex<[DeclaredPort]>

    private enum Turn: Sendable {
        case tick
        case plugs([PlugEvent])
        /// The events have ended.
        case deaf
    }

    private static var ticksPerFullLook: Int { 10 }

    /// - Parameters:
    ///   - declared: the ports that the configuration names.
    ///   - interval: time between two looks.
    ///   - listen: called once for each run.
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

    /// Whether a person declared a raw HID device at this path.
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
        // Before the first look, so that changes during it are reported, and looked at again.
        let events = listen()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // The sleep throws when the task is cancelled.
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
