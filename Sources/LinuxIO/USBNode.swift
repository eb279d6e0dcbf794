import CLinux
package import Domain
import Glibc

/// The node of a USB device, `/dev/bus/usb/…` (Documentation/driver-api/usb/usb.rst, usbfs). Used first by the thread
/// that opens it, then by the loop's.
package final class USBNode: Sendable {
    package let descriptor: FileDescriptor

    package init(opening path: String) throws(ChannelFailure) {
        descriptor = try FileDescriptor(node: path)
    }

    /// Returns the descriptors of the device and its configurations, in order and in bus format. Call it only once.
    package func descriptors() throws(Errno) -> [UInt8] {
        // Maximum for a configuration: 65,535 octets (USB 2.0, 9.6.3, wTotalLength). Meters need about 200.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        let count = try descriptor.read(into: buffer) ?? 0
        return [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// Returns the name of an interface's driver, if any: `usbfs` if another program uses the interface.
    package func driver(ofInterface number: UInt8) throws(Errno) -> String? {
        let name = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 64)
        defer { name.deallocate() }
        do {
            try Errno.check { cl_usb_driver(descriptor.raw, UInt32(number), name.baseAddress, name.count) }
        } catch {
            if error.code == ENODATA { return nil }
            throw error
        }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package func claim(interface number: UInt8) throws(Errno) {
        try Errno.check { cl_usb_claim(descriptor.raw, UInt32(number)) }
    }

    /// Clears a halt of an endpoint (USB 2.0, 9.4.5).
    package func clearHalt(at endpoint: UInt8) throws(Errno) {
        try Errno.check { cl_usb_clear_halt(descriptor.raw, UInt32(endpoint)) }
    }

    /// Returns the next completed USB transfer, if any. Throws if the device was removed.
    package func reap() throws(Errno) -> USBTransfer.Done? {
        guard let done = cl_usb_reap(descriptor.raw) else {
            let reason = Errno.last
            if reason.code == EAGAIN || reason.code == EINTR { return nil }
            throw reason
        }
        return USBTransfer.Done(done)
    }
}

/// Bulk USB transfers over one endpoint, one at a time. The kernel writes into the buffer only during `reap`, so it may
/// be freed once the node is closed.
package final class USBTransfer {
    private let raw: OpaquePointer
    private let node: USBNode
    package let endpoint: UInt8
    package let capacity: Int

    /// A completed transfer, valid until it is submitted again.
    package struct Done {
        private let raw: OpaquePointer

        fileprivate init(_ raw: OpaquePointer) { self.raw = raw }

        package func isOf(_ transfer: USBTransfer) -> Bool { transfer.raw == raw }
        package var failure: Errno? {
            let code = cl_usb_transfer_error(raw)
            return code == 0 ? nil : Errno(code)
        }
        package var bytes: [UInt8] {
            [UInt8](UnsafeRawBufferPointer(start: cl_usb_transfer_bytes(raw), count: cl_usb_transfer_count(raw)))
        }
    }

    /// - Parameters:
    ///   - endpoint: address; bit 0x80 marks the direction to the host.
    ///   - capacity: size of a USB transfer in octets.
    package init(_ node: USBNode, endpoint: UInt8, capacity: Int) throws(Errno) {
        guard let raw = cl_usb_transfer_new(endpoint, capacity) else { throw Errno(ENOMEM) }
        (self.raw, self.node, self.endpoint, self.capacity) = (raw, node, endpoint, capacity)
    }

    deinit { cl_usb_transfer_free(raw) }

    package func receive() throws(Errno) {
        try Errno.check { cl_usb_submit(node.descriptor.raw, raw, capacity) }
    }

    package func send(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        let count = min(bytes.count, capacity)
        if count > 0, let start = bytes.baseAddress { memcpy(cl_usb_transfer_bytes(raw), start, count) }
        try Errno.check { cl_usb_submit(node.descriptor.raw, raw, count) }
    }
}
