package import Domain
import Glibc
package import LinuxIO

/// User-readable texts, with advice, for the kernel's error numbers. Sources: `bt_to_errno` (net/bluetooth/lib.c),
/// which translates controllers' codes, and net/bluetooth/l2cap_core.c, hci_conn.c and rfcomm/core.c.
extension ChannelFailure {
    package static func connecting(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ reason: Errno
    ) -> ChannelFailure {
        let meter = link.address
        switch reason.code {
        case EBUSY:
            return ChannelFailure(
                .busy,
                "Another program on this host has the link to \(meter), most likely bluetoothd. See it with"
                    + " `bluetoothctl info \(meter)`, end it with `bluetoothctl disconnect \(meter)`.")
        case ETIMEDOUT, EHOSTDOWN, EINPROGRESS, EALREADY, ECONNRESET, ECONNABORTED:
            return unreachable(link, reason)
        case ENOSYS:
            // The kernel has no errno for HCI error 0x3E ("connection failed to be established") and returns ENOSYS.
            return ChannelFailure(
                .unreachable,
                "\(meter) was heard, but the link failed at once. Move it nearer to the adapter \(link.adapter); on a"
                    + " Raspberry Pi, Wi-Fi on the same chip disturbs it: use 5 GHz or a USB Bluetooth adapter.")
        case ENODEV, ENETDOWN, EHOSTUNREACH, EADDRNOTAVAIL, ENETUNREACH:
            return ChannelFailure(
                .adapter,
                "The adapter \(link.adapter) is off, blocked or gone (\(reason)). `meterctl doctor` looks at it.")
        case EMLINK:
            return ChannelFailure(
                .adapter,
                "The adapter \(link.adapter) has no free link. Disconnect another meter, or plug in another adapter."
            )
        case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT:
            return ChannelFailure(
                .adapter,
                "This kernel has no \(transport == .spp ? "Bluetooth serial ports" : "Bluetooth") (\(reason)):"
                    + " `modprobe \(transport == .spp ? "rfcomm" : "bluetooth")`, as root, or a kernel that has them.")
        case EPERM:
            return ChannelFailure(
                .permission,
                "This user may not open Bluetooth sockets (\(reason)). A container or a service's sandbox may forbid it."
            )
        default:
            return refused(link, over: transport, reason)
        }
    }

    private static func refused(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ reason: Errno
    ) -> ChannelFailure {
        let meter = link.address
        switch (reason.code, transport) {
        case (ECONNREFUSED, .spp):
            return ChannelFailure(
                .unsuitable,
                "\(meter) has no serial port there (\(reason)). It may be not a meter, or one that speaks Bluetooth LE only."
            )
        case (ECONNREFUSED, _):
            return ChannelFailure(
                .adapter, "The adapter \(link.adapter) has Bluetooth LE switched off: `bluetoothctl power on`.")
        case (EACCES, .spp), (EBADE, _):
            return ChannelFailure(
                .unsuitable,
                "\(meter) refused the pairing (\(reason)). Forget it with `bluetoothctl remove \(meter)` and try again;"
                    + " the PIN of most meters is 1234.")
        case (EACCES, _):
            return ChannelFailure(
                .permission,
                "This user may not open Bluetooth sockets (\(reason)). A container or a service's sandbox may forbid it."
            )
        default:
            return ChannelFailure(.system, "Cannot connect to \(meter) via \(link.adapter): \(reason).")
        }
    }

    private static func unreachable(_ link: RadioLink, _ reason: Errno) -> ChannelFailure {
        ChannelFailure(
            .unreachable,
            "\(link.address) does not answer (\(reason.words)): it is out of range, switched off, or connected to a phone"
                + " or another host.")
    }

    package static func losing(_ link: RadioLink, _ reason: Errno?) -> ChannelFailure {
        let words = reason.map { " (\($0.words))" } ?? ""
        return ChannelFailure(
            .lost, "The link to \(link.address) is gone\(words): it was switched off or went out of range.")
    }
}
