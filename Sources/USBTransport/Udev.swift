import CUdev
import LinuxIO

package enum Udev {
    /// Whether udevd runs. It reports a node after its rules have set the node's permissions. The kernel's own events
    /// come earlier.
    package static var isRunning: Bool { FileTree.exists("/run/udev/control") }

    /// Whether udevd runs and has not handled a device yet.
    ///
    /// - Parameter sysfsPath: folder of the device, or a link to it.
    package static func awaitsRules(sysfsPath: String) -> Bool {
        guard isRunning, let path = FileTree.canonical(sysfsPath), let library = udev_new() else { return false }
        defer { udev_unref(library) }
        guard let device = udev_device_new_from_syspath(library, path) else { return false }
        defer { udev_device_unref(device) }
        return udev_device_get_is_initialized(device) == 0
    }
}

package struct PlugEvent: Hashable, Sendable {
    /// Path such as `/dev/ttyACM0`.
    package var node: String
    /// Whether the node was removed; false if it was added or changed.
    package var isGone: Bool

    package init(node: String, isGone: Bool) {
        self.node = node
        self.isGone = isGone
    }
}
