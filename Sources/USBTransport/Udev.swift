import CUdev
import LinuxIO

/// What this program asks udevd, through libudev.
package enum Udev {
    /// Whether udevd runs. Its own events come once its rules have been applied, so that nodes can be opened by those
    /// allowed to; the kernel's events come before.
    package static var isRunning: Bool { FileTree.exists("/run/udev/control") }

    /// Whether udevd runs and has not handled a device yet.
    ///
    /// - Parameter sysfsPath: the device's folder, or a link to it.
    package static func awaitsRules(sysfsPath: String) -> Bool {
        guard isRunning, let path = FileTree.canonical(sysfsPath), let library = udev_new() else { return false }
        defer { udev_unref(library) }
        guard let device = udev_device_new_from_syspath(library, path) else { return false }
        defer { udev_device_unref(device) }
        return udev_device_get_is_initialized(device) == 0
    }
}

/// An event about a device node.
package struct PlugEvent: Hashable, Sendable {
    /// The device node, such as `/dev/ttyACM0`.
    package var node: String
    /// Whether it is gone. If false, it was added or changed.
    package var isGone: Bool

    package init(node: String, isGone: Bool) {
        self.node = node
        self.isGone = isGone
    }
}
