import Domain
import Glibc

extension FileDescriptor {
    /// Opens a meter's device node for reading and writing, non-blocking.
    convenience init(node path: String, _ flags: Int32 = 0, isSerial: Bool = false) throws(ChannelFailure) {
        do {
            try self.init(opening: path, O_RDWR | O_NONBLOCK | flags)
        } catch {
            throw ChannelFailure(error, opening: path, isSerial: isSerial)
        }
    }
}

extension ChannelFailure {
    /// - Parameter isSerial: whether the path is a serial port, so that errors advise the group dialout instead of this
    ///   project's udev rules.
    init(_ error: Errno, opening path: String, isSerial: Bool = false) {
        switch error.code {
        case ENOENT, ENXIO, ENODEV, ENOTDIR:
            let search = isSerial ? ", or look for its port in /dev/serial/by-id" : ""
            self.init(.missing, "There is no \(path). Plug the meter in\(search).")
        case EACCES, EPERM:
            let remedy =
                isSerial
                ? "Add the user to the group dialout (sudo usermod -aG dialout USER) and log in again."
                : "Copy udev/60-meter-gateway.rules and 61-meter-gateway-access.rules to /etc/udev/rules.d, add the user "
                    + "to the group plugdev (sudo usermod -aG plugdev USER), log in again and plug the meter in anew."
            self.init(.permission, "No permission to open \(path). \(remedy)")
        case EBUSY, EWOULDBLOCK:
            let usual = isSerial ? " (ModemManager is a usual one)." : ""
            let use = isSerial ? "open" : "for itself"
            self.init(.busy, "Another program has \(path) \(use). See which with: fuser -v \(path)\(usual)")
        case EIO: self.init(.lost, "\(path) does not answer. Unplug the meter and plug it in again.")
        default: self.init(.system, "Cannot open \(path): \(error).")
        }
    }
}
