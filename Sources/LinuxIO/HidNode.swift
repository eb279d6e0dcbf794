import CLinux
package import Gateway
import Glibc

/// A raw HID device, open for reports to and from it.
///
/// Reads do not wait. Writes do, for the device, up to five seconds (USB_CTRL_SET_TIMEOUT in the kernel's usbhid).
package struct HidNode: LinkEnd {
    package let descriptor: FileDescriptor
    package let vendor: UInt16
    package let product: UInt16

    package init(opening path: String) throws(ChannelFailure) {
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor(opening: path, O_RDWR | O_NONBLOCK)
        } catch {
            throw Self.failure(error, opening: path)
        }
        var device = cl_hid_device()
        do {
            try Errno.check { cl_hidraw_info(descriptor.raw, &device) }
        } catch {
            // A device that went in between, or a file of another kind.
            throw error.code == ENOTTY || error.code == EINVAL
                ? ChannelFailure(.unsuitable, "\(path) is no raw HID device. Those are /dev/hidraw*.")
                : Self.failure(error, opening: path)
        }
        (self.descriptor, vendor, product) = (descriptor, device.vendor, device.product)
    }

    /// The last close stops the kernel's reading from the device, which may take as long as the device lets it.
    package func close(discardingOutput: Bool) { descriptor.closeElsewhere() }

    static func failure(_ error: Errno, opening path: String) -> ChannelFailure {
        switch error.code {
        case ENOENT, ENXIO, ENODEV, ENOTDIR: ChannelFailure(.missing, "There is no \(path). Plug the meter in.")
        case EACCES, EPERM:
            ChannelFailure(
                .permission,
                "No permission to open \(path). Copy udev/61-meter-gateway-access.rules to /etc/udev/rules.d, add the user "
                    + "to the group plugdev (sudo usermod -aG plugdev USER), log in again and plug the meter in anew.")
        case EBUSY:
            ChannelFailure(.busy, "Another program has \(path) for itself. See which with: fuser -v \(path)")
        case EIO: ChannelFailure(.lost, "\(path) does not answer. Unplug the meter and plug it in again.")
        default: ChannelFailure(.system, "Cannot open \(path): \(error).")
        }
    }
}
