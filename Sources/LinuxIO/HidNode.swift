import CLinux
package import Domain
import Glibc

/// An open raw HID device. Only writes wait for the device, up to five seconds (USB_CTRL_SET_TIMEOUT in the kernel's
/// usbhid).
package struct HidNode: LinkEndpoint {
    package let descriptor: FileDescriptor
    package let vendor: UInt16
    package let product: UInt16

    package init(opening path: String) throws(ChannelFailure) {
        let descriptor = try FileDescriptor(node: path)
        var device = cl_hid_device()
        do {
            try Errno.check { cl_hidraw_info(descriptor.raw, &device) }
        } catch {
            // ENOTTY and EINVAL: the node is another kind of file. Other errors: the device was probably removed
            // meanwhile.
            throw error.code == ENOTTY || error.code == EINVAL
                ? ChannelFailure(.unsuitable, "\(path) is not a raw HID device. Those are /dev/hidraw*.")
                : ChannelFailure(error, opening: path)
        }
        (self.descriptor, vendor, product) = (descriptor, device.vendor, device.product)
    }

    /// Closes on another thread: the last close stops the kernel's reads, which a slow device delays.
    package func close(discardingOutput: Bool) { descriptor.closeElsewhere() }
}
