package import Domain
import LinuxIO
import Synchronization

/// Watches this host's ports for meters. Scans after hot-plug events, and regularly for changes without an event.
///
/// udev does not report declared pseudo-terminals and symbolic links, and its events do not reach containers. So
/// declared ports are checked at each interval. Other ports are checked at each interval on a host without events;
/// otherwise at every sixtieth, because udevd may have been stopped.
///
/// Without a change, only the loop's thread wakes.
package final class PortWatcher: PortSource {
    package typealias Listen = @Sendable () -> AsyncStream<[PlugEvent]>?

    private let scanner: PortScanner
    private let interval: Duration
    private let loop: any SessionLoop
    private let listen: Listen
    private let state: Mutex<State>

    private struct State {
        var declared: [DeclaredPort] = []
        /// Devices of the declared ports at the last regular check; nil before the first check and after a port was
        /// removed.
        var devices: [FileTree.CharacterDevice?]?
        var names: USBNames
        var isHearing = false
        var intervals = 0
        var timer: LoopTimer?
        var turns: AsyncStream<Turn>.Continuation?
    }

    private enum Turn: Sendable {
        case anew(MeterID)
        case declared
        case all
        case plugs([PlugEvent])
        case deaf
    }

    private static let intervalsPerFullLook = 60

    /// - Parameters:
    ///   - interval: time between two checks of the ports; up to 1.5 times as long while nothing else wakes the loop.
    ///   - listen: returns the hot-plug events; nil if the host has none. Called once for each call of `run`.
    package init(
        scanner: PortScanner, declared: [DeclaredPort] = [], interval: Duration = .seconds(1), loop: any SessionLoop,
        listen: @escaping Listen = { nil }
    ) {
        self.scanner = scanner
        self.interval = interval
        self.loop = loop
        self.listen = listen
        state = Mutex(State(names: scanner.names))
        for port in declared { watch(port) }
    }

    package func watch(_ port: DeclaredPort) {
        state.withLock { state in
            // An ESPHome node has one host name, so remove its previous one.
            if port.link.transport == .network { state.declared.removeAll { $0.id == port.id && $0.path != port.path } }
            if let index = state.declared.firstIndex(where: { $0.path == port.path }) {
                state.declared[index] = port
            } else {
                state.declared.append(port)
            }
            state.turns?.yield(.declared)
        }
        // The new port may require an earlier check.
        setTimer()
    }

    package func declaresRawHID(at path: String) -> Bool {
        state.withLock { $0.declared.contains { $0.link == .hid(path: path) } }
    }

    package func isSamePort(_ first: String, _ second: String) -> Bool {
        guard first != second else { return true }
        guard let node = FileTree.canonical(first) else { return false }
        return node == FileTree.canonical(second)
    }

    package func unwatch(_ meter: MeterID) {
        state.withLock { state in
            state.declared.removeAll { $0.id == meter }
            state.devices = nil
        }
    }

    package func remember(_ meter: MeterID, _ plug: USBPlug?) {
        state.withLock { $0.names.remember(meter, plug) }
    }

    package func meetAnew(_ meter: MeterID, byPort: Bool) {
        state.withLock { state in
            state.names.forget(meter, byPort: byPort)
            state.turns?.yield(.anew(meter))
        }
    }

    package func isThere(_ path: String) -> Bool { FileTree.isCharacterDevice(path) }

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        let (turns, source) = AsyncStream.makeStream(of: Turn.self)
        // Subscribe before the first scan, so that changes during it cause another scan.
        let events = listen()
        state.withLock { state in
            state.turns = source
            state.isHearing = events != nil
        }
        setTimer()
        await withTaskGroup(of: Void.self) { group in
            if let events {
                group.addTask {
                    for await batch in events { source.yield(.plugs(batch)) }
                    source.yield(.deaf)
                }
            }
            await look(turns, report)
            group.cancelAll()
        }
        let timer = state.withLock { state in
            state.turns = nil
            return state.timer.take()
        }
        if let timer { loop.cancel(timer) }
    }

    private func look(_ turns: AsyncStream<Turn>, _ report: @Sendable (SightingEvent) -> Void) async {
        var sightings = SightingSet()
        var plugged = scanner.plugged()
        func tell() {
            let declared = scanner.declared(state.withLock { $0.declared })
            let plugged = state.withLock { PortScanner.sightings(of: plugged, &$0.names) }
            for event in sightings.update(to: scanner.merge(declared, plugged: plugged)) { report(event) }
        }
        tell()
        for await turn in turns {
            switch turn {
            case .declared: break
            case .anew(let meter): sightings.remove(meter).forEach(report)
            case .all: plugged = scanner.plugged()
            case .plugs(let events):
                for event in events where event.isGone { sightings.remove(node: event.node).forEach(report) }
                plugged = scanner.plugged()
            case .deaf:
                state.withLock { $0.isHearing = false }
                setTimer()
            }
            tell()
        }
    }

    // MARK: Intervals

    /// Sets the timer for the next check. Skips intervals in which there is nothing to check.
    private func setTimer() {
        let now = loop.now
        let former = state.withLock { state in
            guard state.turns != nil else { return LoopTimer?.none }
            let isIdle = state.isHearing && state.declared.allSatisfy { $0.link.transport == .network }
            let intervals = isIdle ? max(1, Self.intervalsPerFullLook - state.intervals) : 1
            let former = state.timer
            // Allow a delay, so that the timer can share a wake-up with data from a meter.
            state.timer = loop.schedule(
                within: now + interval * intervals...now + interval * intervals + interval / 2
            ) { [weak self] in self?.intervalPassed(intervals) }
            return former
        }
        if let former { loop.cancel(former) }
    }

    private func intervalPassed(_ intervals: Int) {
        let declared = state.withLock { $0.declared }
        let devices = declared.map { FileTree.characterDevice(at: $0.path) }
        state.withLock { state in
            state.timer = nil
            state.intervals += intervals
            let hasChanged = state.devices.map { $0 != devices } ?? true
            state.devices = devices
            if !state.isHearing || state.intervals >= Self.intervalsPerFullLook {
                state.intervals = 0
                state.turns?.yield(.all)
            } else if hasChanged {
                state.turns?.yield(.declared)
            }
        }
        setTimer()
    }
}
