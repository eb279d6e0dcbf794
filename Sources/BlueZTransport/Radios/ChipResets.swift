import BluetoothCore
import Domain
import LinuxIO

/// Resets adapters' chips, each on its own thread. Use only on the event loop.
final class ChipResets: @unchecked Sendable {
    private let files: AdapterFiles
    private let loop: IOLoop
    private var rebinds: [String: MonotonicTime] = [:]

    init(files: AdapterFiles, loop: IOLoop) {
        self.files = files
        self.loop = loop
    }

    func prepare(_ machine: inout AdapterMachine, of adapter: String) {
        let last = files.serialDevice(of: adapter).flatMap { rebinds[$0.name] }
        machine.allowChipReset(files.chipReset(of: adapter), last: last)
    }

    /// - Parameter report: receives whether the reset succeeded, on the event loop after this function has returned.
    func perform(
        _ reset: ChipReset, of adapter: String, at now: MonotonicTime, _ report: @escaping @Sendable (Bool) -> Void
    ) {
        let loop = loop
        guard let reset = prepared(reset, of: adapter, at: now) else {
            // Deferred: the caller must return before the report.
            return loop.execute { report(false) }
        }
        BackgroundThread.run {
            let isDone = reset()
            loop.execute { report(isDone) }
        }
    }

    private func prepared(
        _ reset: ChipReset, of adapter: String, at now: MonotonicTime
    ) -> (@Sendable () -> Bool)? {
        let files = files
        switch reset {
        case .usbPort:
            guard let node = files.usbNode(of: adapter) else { return nil }
            return { (try? AdapterFiles.resetUSB(node)) != nil }
        case .serialDevice:
            guard let device = files.serialDevice(of: adapter) else { return nil }
            if rebinds.count < 16 || rebinds[device.name] != nil { rebinds[device.name] = now }
            return { files.rebind(device, of: adapter) }
        }
    }
}
