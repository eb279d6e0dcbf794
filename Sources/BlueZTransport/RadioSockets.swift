import BluetoothCore
import CBluetooth
package import Domain
package import LinuxIO

/// Kernel functions for the channels. Tests replace them by socket pairs.
package protocol RadioSockets: Sendable {
    /// Returns a connected or connecting packet socket for the attribute protocol. May wait for a lock in the kernel.
    func connectATT(_ link: RadioLink) throws(Errno) -> FileDescriptor
    /// Like `connectATT`, but the socket is a byte stream to a serial port.
    func connectRFCOMM(_ link: RadioLink, channel: UInt8) throws(Errno) -> FileDescriptor
    /// Requests the channel of the meter's serial port. Waits up to `limit`, or until `cancel` becomes readable.
    ///
    /// - Returns: nil if the meter lists no serial port.
    func findSerialPort(_ link: RadioLink, limit: Duration, cancel: FileDescriptor) throws(Errno) -> UInt8?
}

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
        // Larger than any meter's answer; a longer one is truncated.
        var answer = [UInt8](repeating: 0, count: 8192)
        var left: Int32 = -1
        // Close on another thread, because the closing thread may never return (see `ATTSocket`).
        defer { if left >= 0 { FileDescriptor(owning: left).closeElsewhere() } }
        let length = try Errno.check {
            cb_ask_for_serial_port(adapter, meter, milliseconds, cancel.raw, &answer, Int32(answer.count), &left)
        }
        return SDPAnswer.rfcommChannel(in: Array(answer.prefix(Int(length))))
    }
}

extension MACAddress {
    /// Octets in the kernel's order: the last printed octet first.
    fileprivate var socketBytes: [UInt8] {
        stride(from: UInt64(0), to: 48, by: 8).map { UInt8(truncatingIfNeeded: bits >> $0) }
    }
}
