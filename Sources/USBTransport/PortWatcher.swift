package import Gateway
import LinuxIO
import Synchronization

/// Watches serial ports by looking again and again: works in every container and needs no library, and a second is
/// soon enough for a cable that a person plugs in.
package final class PortWatcher<WatchClock: Clock>: PortSource where WatchClock.Duration == Duration {
    private let scanner: PortScanner
    private let interval: Duration
    private let clock: WatchClock
    /// In the order they were first declared.
    private let declared: Mutex<[DeclaredPort]>

    /// - Parameters:
    ///   - declared: the ports that the configuration names.
    ///   - interval: how long between two looks.
    package init(
        scanner: PortScanner, declared: [DeclaredPort] = [], interval: Duration = .seconds(1), clock: WatchClock
    ) {
        self.scanner = scanner
        self.interval = interval
        self.clock = clock
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

    package func isSamePort(_ first: String, _ second: String) -> Bool {
        guard first != second else { return true }
        guard let node = FileTree.canonical(first) else { return false }
        return node == FileTree.canonical(second)
    }

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        var sightings = SightingSet()
        while !Task.isCancelled {
            for event in sightings.update(to: scanner.scan(declared: declared.withLock { $0 })) { report(event) }
            do {
                try await clock.sleep(for: interval)
            } catch {
                return  // Cancelled.
            }
        }
    }
}
