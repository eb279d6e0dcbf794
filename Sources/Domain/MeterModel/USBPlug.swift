package struct USBPlug: Hashable, Sendable {
    /// Port in the kernel's notation: the bus, then ports (`1-1.4`).
    package var port: String
    /// Nil if the meter has none, or one that cannot be part of an id.
    package var serial: String?

    package init(port: String, serial: String?) {
        self.port = port
        self.serial = serial
    }
}
