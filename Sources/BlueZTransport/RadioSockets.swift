import BluetoothCore
import CBluetooth
package import Domain
package import LinuxIO

/// What the channels need from the kernel. Tests replace it by socket pairs.
package protocol RadioSockets: Sendable {
    /// A packet socket for the attribute protocol, connected or connecting. May wait for a lock in the kernel.
    func connectATT(_ link: RadioLink) throws(Errno) -> FileDescriptor
    /// A stream socket to a serial port, connected or connecting. May wait for a lock in the kernel.
    func connectRFCOMM(_ link: RadioLink, channel: UInt8) throws(Errno) -> FileDescriptor
    /// Asks the meter for the channel of its serial port. Waits for the answer up to `limit`, or until there is
    /// something to read from `cancel`.
    ///
    /// - Returns: nil if the meter names none.
    func findSerialPort(_ link: RadioLink, limit: Duration, cancel: FileDescriptor) throws(Errno) -> UInt8?
}

/// The kernel's own Bluetooth sockets, and libbluetooth's SDP client.
package struct KernelRadioSockets: RadioSockets {
    package init() {}

    package func connectATT(_ link: RadioLink) throws(Errno) -> FileDescriptor {
        let (adapter, meter) = (link.adapter.socketBytes, link.address.socketBytes)
        return FileDescriptor(
            owning: try Errno.check { cb_connect_att(adapter, meter, link.isRandom ? 1 : 0) })
    }

    package func connectRFCOMM(_ link: RadioLink, channel: UInt8) throws(Errno) -> FileDescriptor {
        let (adapter, meter) = (link.adapter.socketBytes, link.address.socketBytes)
        return FileDescriptor(owning: try Errno.check { cb_connect_rfcomm(adapter, meter, channel) })
    }

    package func findSerialPort(
        _ link: RadioLink, limit: Duration, cancel: FileDescriptor
    ) throws(Errno) -> UInt8? {
        let (adapter, meter) = (link.adapter.socketBytes, link.address.socketBytes)
        let milliseconds = Int32(clamping: limit.milliseconds)
        // Longer than any meter's answer; a longer answer is truncated, and then hardly a sequence.
        var answer = [UInt8](repeating: 0, count: 8192)
        var left: Int32 = -1
        // The same fault as an ATTSocket's: the thread that closes it may never return with the result.
        defer { if left >= 0 { FileDescriptor(owning: left).closeElsewhere() } }
        let length = try Errno.check {
            cb_ask_for_serial_port(adapter, meter, milliseconds, cancel.raw, &answer, Int32(answer.count), &left)
        }
        return SDPAnswer.rfcommChannel(in: Array(answer.prefix(Int(length))))
    }
}

extension MACAddress {
    /// In the kernel's form: the last printed octet first.
    fileprivate var socketBytes: [UInt8] {
        stride(from: UInt64(0), to: 48, by: 8).map { UInt8(truncatingIfNeeded: bits >> $0) }
    }
}
