package import Domain

/// A known USB device that meterd does not read: a meter without a driver, or another device with a meter's ids.
package struct KnownUSBDevice: Hashable, Sendable {
    package var vendor: UInt16
    package var product: UInt16?
    /// Part of the manufacturer's or the product's text, ignoring case; nil to match any text.
    package var match: String?
    /// Class and subclass of the device's only interface; nil to match any interfaces.
    var onlyInterface: USBSelfDescription.Interface?
    package var name: String
    package var maker: MeterMaker?
    /// Reason why meterd does not read the device, as the end of a sentence.
    package var reason: String

    private init(
        _ vendor: UInt16, _ product: UInt16?, match: String? = nil,
        onlyInterface: USBSelfDescription.Interface? = nil, _ name: String, of maker: MeterMaker? = nil,
        _ reason: String
    ) {
        self.vendor = vendor
        self.product = product
        self.match = match
        self.onlyInterface = onlyInterface
        self.name = name
        self.maker = maker
        self.reason = reason
    }

    func fits(_ device: USBSelfDescription) -> Bool {
        guard vendor == device.vendor, product == nil || product == device.product else { return false }
        if let onlyInterface, device.interfaces != [onlyInterface] { return false }
        guard let match = match?.lowercased() else { return true }
        return device.texts.contains { $0.lowercased().contains(match) }
    }

    /// Devices that are not meters, and meters in boot loader mode. Sources: Docs/Identities.md.
    package static let strangers: [KnownUSBDevice] = [
        KnownUSBDevice(
            0x5FC9, 0x0063, onlyInterface: .init(0xFF, 0xFF), "KM003C in its boot loader", of: .chargerlab,
            "it has neither a serial port nor a raw HID device until its firmware runs again"),
        KnownUSBDevice(0x0483, 0x0038, "FNB58 in its boot loader", "it only takes firmware"),
        KnownUSBDevice(0x0483, 0x5750, match: "SKYicroe", "cutting plotter", "it has the ids of an example of ST's"),
        KnownUSBDevice(
            0x28E9, 0x018A, match: "ANYCUBIC", "Anycubic ACE", "it has the ids of an example of GigaDevice's"),
        KnownUSBDevice(0x28E9, 0x0189, "GD32 in DFU", "it only takes firmware"),
        KnownUSBDevice(0x28E9, 0x0289, "receipt printer", "it has GigaDevice's vendor id"),
        KnownUSBDevice(0x2E3C, 0x5740, "FNIRSI DPS-150", "it is a supply"),
        KnownUSBDevice(0x2E3C, 0xDF11, "AT32 in DFU", "it only takes firmware"),
        KnownUSBDevice(0x2E3C, 0xC365, "AULA keyboard", "it has Artery's vendor id"),
    ]

    private static let sharedHID =
        "DL24P, KM001 Pro, ACD15P, C13P and other boards have these ids, and its text tells none of them: declare it as "
        + "[[port]] hidraw with its model, km001pro, acd15p or c13p; no driver here reads a DL24P over USB yet"
    private static let sharedSerial =
        "its text does not end in Application Mode, as theirs do: declare it as [[port]] path with its model, ct-3 or "
        + "avhzy-c3, and please report it"

    /// Meters without a driver, and meters whose ids do not identify the model. The first matching row wins, so for
    /// equal ids, rows with a text come first.
    package static let unread: [KnownUSBDevice] = [
        KnownUSBDevice(0x0483, 0x5750, "one of several meters", sharedHID),
        KnownUSBDevice(0x0483, 0x5F50, "POWER-Z KM001 Pro, Atorch ACD15P or C13P", sharedHID),
        KnownUSBDevice(
            0x0483, 0x0039, "FNIRSI meter", of: .fnirsi,
            "nobody has published which model has these ids: declare it as [[port]] hidraw with a model of FNIRSI's, "
                + "and please report it"),
        KnownUSBDevice(0x0483, 0xFFFF, "YK-Lab meter (AVHzY CT-3 or Shizuku)", of: .shizuku, sharedSerial),
        KnownUSBDevice(0x0483, 0xFFFE, "YK-Lab meter (AVHzY C3, CT-3 or Shizuku)", of: .shizuku, sharedSerial),
        KnownUSBDevice(
            0x1A86, nil, "USB serial adapter (CH340)",
            "a DL24P, a YZXstudio meter and countless adapters have these ids: where it is a meter, declare it as "
                + "[[port]] path with its model; \(board)"),
        // Vendor ids of boards: arduino/ArduinoCore-avr boards.txt, raspberrypi/usb-pid, espressif/usb-pids; of
        // adapters: Linux, drivers/usb/serial/cp210x.c and ftdi_sio.c.
        KnownUSBDevice(0x2341, nil, "Arduino board", board),
        KnownUSBDevice(0x2A03, nil, "Arduino board", board),
        KnownUSBDevice(0x2E8A, nil, "Raspberry Pi microcontroller board", board),
        KnownUSBDevice(0x303A, nil, "Espressif board", board),
        KnownUSBDevice(0x10C4, 0xEA60, "USB serial adapter (CP210x)", board),
        KnownUSBDevice(0x0403, 0x6001, "USB serial adapter (FT232R)", board),
        KnownUSBDevice(0x0403, 0x6015, "USB serial adapter (FT231X)", board),
    ]

    private static let board =
        "where a board prints what it measures, declare the port as [[port]] with model = \"generic\" or one that you describe "
        + "(Docs/Meters/GENERIC.md)"
}
