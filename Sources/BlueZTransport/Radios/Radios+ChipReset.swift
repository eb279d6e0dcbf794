import BluetoothCore
import LinuxIO
import Logging
import MeterModel

/// The last step of the ladder, performed on a thread of its own.
extension Radios {
    /// Tells a machine about its adapter's bus.
    func prepareChipReset(of name: String, _ machine: inout AdapterMachine) {
        machine.chipReset = configuration.files.chipReset(of: name)
        guard let device = configuration.files.serialDevice(of: name), let last = rebinds[device.name] else { return }
        machine.chipResetNotBefore = last + ChipReset.intervalMin
    }

    func resetChip(of adapter: PresentAdapter, _ reset: ChipReset, _ now: MonotonicTime) {
        let files = configuration.files
        switch reset {
        case .usbPort:
            guard let node = files.usbNode(of: adapter.name) else { return chipWasReset(adapter, isDone: false) }
            // The error does not help: the ladder ends with a person's intervention.
            perform(on: adapter) { (try? AdapterFiles.resetUSB(node)) != nil }
        case .serialDevice:
            guard let device = files.serialDevice(of: adapter.name) else {
                return chipWasReset(adapter, isDone: false)
            }
            // Boards have one or two such chips.
            if rebinds.count < 16 || rebinds[device.name] != nil { rebinds[device.name] = now }
            let name = adapter.name
            perform(on: adapter) { files.rebind(device, of: name) }
        }
    }

    private func perform(on adapter: PresentAdapter, _ reset: @escaping @Sendable () -> Bool) {
        BackgroundThread.run { [self] in
            let isDone = reset()
            loop.execute { self.assumeIsolated { $0.noteChipReset(adapter, isDone: isDone) } }
        }
    }

    private func chipWasReset(_ adapter: PresentAdapter, isDone: Bool) {
        // Not at once: the caller is still at work.
        loop.execute { [weak self] in self?.assumeIsolated { $0.noteChipReset(adapter, isDone: isDone) } }
    }

    private func noteChipReset(_ adapter: PresentAdapter, isDone: Bool) {
        if isDone {
            logger.info("adapter's chip was reset", metadata: adapter.metadata)
        } else {
            logger.warning("adapter's chip was not reset", metadata: adapter.metadata)
        }
        let now = loop.now
        update(adapter.index, at: now) { $0.chipReset(isDone: isDone, at: now) }
    }
}

extension PresentAdapter {
    /// What to do about the adapter's disappearance.
    var goneText: String {
        guard machine.isResettingChip, machine.chipReset == .serialDevice else {
            return "It was unplugged, or it fell off its bus. Plug it in again."
        }
        return
            "Its serial device is being unbound and bound. Where it is not back within a minute, restart the machine."
    }
}
