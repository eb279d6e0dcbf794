import Foundation
import MeterTestKit

@testable import BlueZTransport

/// A folder as sysfs has it on a Raspberry Pi: hci0 is behind a serial device, hci1 on USB.
struct SerialTree: Sendable {
    private let folder: TemporaryFolder
    var sysfs: String { "\(folder.path)/sys" }
    var driver: String { "\(sysfs)/bus/serial/drivers/hci_uart_bcm" }
    /// Where meterd puts requests.
    var requests: String { "\(folder.path)/run" }

    init() throws {
        folder = try TemporaryFolder()
        let serial = "\(sysfs)/devices/platform/soc/fe201000.serial/serial0/serial0-0"
        try Self.make("\(serial)/bluetooth/hci0")
        try Self.make("\(sysfs)/class/bluetooth")
        try Self.make(driver)
        try Self.make(requests)
        try Self.link("\(sysfs)/class/bluetooth/hci0", to: "\(serial)/bluetooth/hci0")
        try Self.link("\(serial)/bluetooth/hci0/device", to: serial)
        try Self.link("\(serial)/driver", to: driver)
        try Self.link("\(serial)/subsystem", to: "\(sysfs)/bus/serial")
        for file in ["unbind", "bind"] { try Data().write(to: URL(filePath: "\(driver)/\(file)")) }
        let usb = "\(sysfs)/devices/pci/usb1/1-1/1-1:1.0"
        try Self.make("\(usb)/bluetooth/hci1")
        try Self.make("\(sysfs)/bus/usb/drivers/btusb")
        try Self.link("\(sysfs)/class/bluetooth/hci1", to: "\(usb)/bluetooth/hci1")
        try Self.link("\(usb)/bluetooth/hci1/device", to: usb)
        try Self.link("\(usb)/driver", to: "\(sysfs)/bus/usb/drivers/btusb")
        try Self.link("\(usb)/subsystem", to: "\(sysfs)/bus/usb")
    }

    static func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    /// What was written to `bind` or `unbind`.
    func said(_ file: String) throws -> String {
        try String(contentsOfFile: "\(driver)/\(file)", encoding: .utf8)
    }

    func files(requests: String? = nil) -> AdapterFiles {
        var files = AdapterFiles(
            bluetoothClass: "\(sysfs)/class/bluetooth", usbNodes: "\(folder.path)/usb",
            serialBus: "\(sysfs)/bus/serial", requests: requests)
        files.requestLooks = 1
        return files
    }
}
