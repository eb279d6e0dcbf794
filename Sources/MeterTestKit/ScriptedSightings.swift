package import Domain
import Synchronization

/// A port watcher with scripted events. Records the ports that it should watch.
package final class ScriptedSightings: PortSource {
    private struct State {
        var watched: [DeclaredPort] = []
        var early: [SightingEvent] = []
        var links: [String: String] = [:]
        var missing: Set<String> = []
        var remembered: [MeterID: USBPlug?] = [:]
        var anew: [MeterID] = []
        var report: (@Sendable (SightingEvent) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// Declared ports in order; the last declaration of a path counts.
    package var watched: [DeclaredPort] { state.withLock { $0.watched } }

    package var remembered: [MeterID: USBPlug?] { state.withLock { $0.remembered } }

    /// Meters that the watcher should report again without their serial numbers (`meetAnew`).
    package var anew: [MeterID] { state.withLock { $0.anew } }

    package func remember(_ meter: MeterID, _ plug: USBPlug?) {
        state.withLock { _ = $0.remembered.updateValue(plug, forKey: meter) }
    }

    package func meetAnew(_ meter: MeterID, byPort: Bool) {
        state.withLock { if byPort { $0.anew.append(meter) } }
    }

    /// Reports an event immediately, or as soon as a listener is registered.
    package func see(_ event: SightingEvent) {
        let report = state.withLock { state in
            if state.report == nil { state.early.append(event) }
            return state.report
        }
        report?(event)
    }

    /// Makes a path lead to the device at another path.
    package func link(_ path: String, to target: String) {
        state.withLock { $0.links[path] = target }
    }

    /// Makes a path lead to no device. By default, every path has a device.
    package func miss(_ path: String) { state.withLock { _ = $0.missing.insert(path) } }

    package func unwatch(_ meter: MeterID) { state.withLock { $0.watched.removeAll { $0.id == meter } } }

    package func isThere(_ path: String) -> Bool { state.withLock { !$0.missing.contains(path) } }

    package func isSamePort(_ first: String, _ second: String) -> Bool {
        state.withLock { $0.links[first] ?? first == $0.links[second] ?? second }
    }

    package func watch(_ port: DeclaredPort) {
        state.withLock { state in
            state.watched.removeAll { $0.path == port.path }
            state.watched.append(port)
        }
    }

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        let early = state.withLock { state in
            defer { state.early = [] }
            state.report = report
            return state.early
        }
        for event in early { report(event) }
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        // Wait until the task is cancelled.
        for await _ in ending {}
        end.finish()
    }
}
