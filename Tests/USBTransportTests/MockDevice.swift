/// Devices in umockdev's form, with the nodes and interfaces that Docs/Identities.md#over-usb names.
enum MockDevice {
    private static let bus = "/devices/pci0000:00/0000:00:14.0/usb1"

    static let fnb58Nodes = [
        ("/sys\(bus)/1-2/1-2:1.1/tty/ttyACM0", "/dev/ttyACM0"),
        ("/sys\(bus)/1-2/1-2:1.3/0003:2E3C:5558.0001/hidraw/hidraw0", "/dev/hidraw0"),
    ]

    static func fnb58(serial: String = "SN1", port: String = "1-2", number: Int = 0) -> String {
        device(port, "2e3c", "5558", product: text(of: "FNB58"), serial: serial, number: number)
            + interface("\(port)/\(port):1.0", driver: "usb-storage", class: "08")
            + terminal("\(port)/\(port):1.1", "ttyACM\(number)", minor: number)
            + raw("\(port)/\(port):1.3/0003:2E3C:5558.000\(number + 1)", "hidraw\(number)", minor: number)
    }

    static func km003c(port: String = "1-3") -> String {
        device(port, "5fc9", "0063", product: text(of: "KM003C"), serial: "007965", number: 5)
            + interface("\(port)/\(port):1.0", driver: "powerz", class: "ff")
            + terminal("\(port)/\(port):1.1", "ttyACM1", minor: 1)
            + raw("\(port)/\(port):1.3/0003:5FC9:0063.0002", "hidraw5", minor: 5)
    }

    static let modem =
        device("1-9", "12d1", "1506", product: "HUAWEI Mobile", serial: "1", number: 9)
        + terminal("1-9/1-9:1.0", "ttyUSB9", minor: 9)

    private static func text(of meter: String) -> String { PublishedDevice.named(meter)?.product ?? "" }

    private static func device(
        _ port: String, _ vendor: String, _ product: String, product name: String, serial: String, number: Int
    ) -> String {
        """
        P: \(bus)/\(port)
        N: bus/usb/001/01\(number)
        E: DEVNAME=/dev/bus/usb/001/01\(number)
        E: DEVTYPE=usb_device
        E: SUBSYSTEM=usb
        A: idVendor=\(vendor)
        A: idProduct=\(product)
        A: product=\(name)
        A: serial=\(serial)


        """
    }

    private static func interface(_ path: String, driver: String, class: String) -> String {
        """
        P: \(bus)/\(path)
        E: DEVTYPE=usb_interface
        E: DRIVER=\(driver)
        E: SUBSYSTEM=usb
        A: bInterfaceClass=\(`class`)


        """
    }

    private static func terminal(_ path: String, _ name: String, minor: Int) -> String {
        node("\(path)/tty/\(name)", name, subsystem: "tty", major: 166, minor: minor)
    }

    private static func raw(_ path: String, _ name: String, minor: Int) -> String {
        node("\(path)/hidraw/\(name)", name, subsystem: "hidraw", major: 240, minor: minor)
    }

    private static func node(_ path: String, _ name: String, subsystem: String, major: Int, minor: Int) -> String {
        """
        P: \(bus)/\(path)
        N: \(name)
        E: DEVNAME=/dev/\(name)
        E: MAJOR=\(major)
        E: MINOR=\(minor)
        E: SUBSYSTEM=\(subsystem)
        L: device=../..


        """
    }
}
