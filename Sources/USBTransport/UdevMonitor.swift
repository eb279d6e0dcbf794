import CUdev
import Glibc
package import LinuxIO

package final class UdevMonitor: @unchecked Sendable {
    // Unchecked, because only one thread at a time uses libudev's objects: the caller's before `events`, then the
    // loop's.

    package enum Group: String, Sendable {
        /// Events from udevd, after it has processed a device.
        case udev
        /// Events from the kernel, for hosts without udevd.
        case kernel

        package static var present: Group { Udev.isRunning ? .udev : .kernel }
    }

    private let library: OpaquePointer
    private let monitor: OpaquePointer
    /// Duplicate of the monitor's descriptor, because libudev closes its own.
    private let descriptor: FileDescriptor

    /// - Returns: nil if the host has no such events, as in most containers.
    package init?(_ group: Group = .present) {
        guard let library = udev_new() else { return nil }
        guard let monitor = udev_monitor_new_from_netlink(library, group.rawValue) else {
            udev_unref(library)
            return nil
        }
        // The kernel applies this filter, so other devices do not wake this program.
        let isFiltered = ["tty", "hidraw"].allSatisfy { (subsystem: String) in
            udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil) >= 0
        }
        let isReceiving = isFiltered && udev_monitor_enable_receiving(monitor) >= 0
        let copy = isReceiving ? fcntl(udev_monitor_get_fd(monitor), F_DUPFD_CLOEXEC, 3) : -1
        guard copy >= 0 else {
            udev_monitor_unref(monitor)
            udev_unref(library)
            return nil
        }
        self.library = library
        self.monitor = monitor
        descriptor = FileDescriptor(owning: copy)
    }

    deinit {
        udev_monitor_unref(monitor)
        udev_unref(library)
    }

    /// Returns the events since the creation of the monitor, simultaneous ones in one batch. An empty batch means that
    /// events were lost. The stream ends when the monitor fails. Call this function once.
    package func events(on loop: IOLoop) -> AsyncStream<[PlugEvent]> {
        AsyncStream { report in
            report.onTermination = { [self] _ in
                loop.execute {
                    loop.unregister(self.descriptor)
                    self.descriptor.close()
                }
            }
            loop.execute { [self] in
                do {
                    try loop.register(descriptor, .readable) { [self] _ in
                        report.yield(receiveAll())
                    }
                } catch {
                    report.finish()
                }
            }
        }
    }

    private func receiveAll() -> [PlugEvent] {
        var events: [PlugEvent] = []
        // Leave time for the loop's other work. Remaining events make the descriptor ready again.
        for _ in 0..<64 {
            guard let device = udev_monitor_receive_device(monitor) else { break }
            defer { udev_device_unref(device) }
            guard let node = udev_device_get_devnode(device), let action = udev_device_get_action(device) else {
                continue
            }
            events.append(PlugEvent(node: String(cString: node), isGone: strcmp(action, "remove") == 0))
        }
        return events
    }
}
