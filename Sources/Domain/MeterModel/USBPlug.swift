/// Where a USB meter is plugged in, and the serial number that it gives there.
package struct USBPlug: Hashable, Sendable {
    /// In the kernel's notation: bus, then port by port (`1-1.4`).
    package var port: String
    /// Nil if it gives none, or one that cannot be part of an id.
    package var serial: String?

    package init(port: String, serial: String?) {
        self.port = port
        self.serial = serial
    }
}
