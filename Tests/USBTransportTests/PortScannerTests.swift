import Domain
import MeterCodec
import Synchronization
import Testing
import USBTransport

struct PortScannerTests {
    /// Its product id and text are nobody's word: none is published.
    private let tc66 = ["idVendor": "28e9", "idProduct": "028a", "manufacturer": "RuiDeng", "product": "TC66"]

    /// What published devices say of themselves, plugged in whole.
    @Test(arguments: PublishedDevice.all)
    func publishedDevice_isTheMeterThatItIs_orNone(device: PublishedDevice) throws {
        let system = try FakeSystem()
        try system.plug(device, port: "1-1", number: 0)

        let found = system.scanner().scan(declared: []).compactMap { $0.model?.rawValue }
        #expect(found == [device.expect.model].compactMap { $0 })
    }

    /// A PPK2's second port is a shell, and may have the lower number.
    @Test func deviceWithTwoTerminals_isReadAtItsFirstInterface() throws {
        let system = try FakeSystem()
        let attributes = ["idVendor": "1915", "idProduct": "c00a", "product": "PPK2", "serial": "CB6017A1DC4B"]
        var path = ""
        for (name, interface) in [("ttyACM0", 3), ("ttyACM1", 1), ("ttyACM2", 5)] {
            let node = try system.addNode(name)
            if interface == 1 { path = node }
            try system.addDevice(name, port: "1-1", interface: interface, attributes: attributes)
        }
        let found = system.scanner().scan(declared: [])
        #expect(found.map(\.link) == [.serial(path: path)])
        #expect(found.first?.id == .usb(vendor: 0x1915, product: 0xC00A, serial: "CB6017A1DC4B"))
    }

    @Test func publishedDevices_areThere() {
        #expect(PublishedDevice.all.count > 30)
    }

    @Test func unclaimedDevice_isListedOnce_withItsNodes() throws {
        let system = try FakeSystem()
        try system.plug(try #require(.named("FNB58")), port: "1-1", number: 0)
        try system.plug(try #require(.named("DL24P, newer")), port: "1-2", number: 1)
        var unknown = try #require(PublishedDevice.named("FNB58"))
        unknown.pid = "5559"
        try system.plug(unknown, port: "1-3", number: 2)

        let found = DeviceTable.builtIn.unclaimed(in: system.sysfsFolder)

        #expect(found.map(\.nodes) == [["ttyACM2", "hidraw2"], ["hidraw1"]])
        #expect(found.first?.verdict == .unrecognised(.fnirsi))
    }

    @Test func meterWithASerial_isKnownByIt() throws {
        let system = try FakeSystem()
        let path = try system.addNode("ttyACM0")
        let own = ["serial": "0062C7", "idVendor": "5fc9", "idProduct": "0063", "product": "POWER-Z KM003C"]
        try system.addDevice("ttyACM0", port: "1-1", attributes: own)

        let found = system.scanner().scan(declared: [])

        let id = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "0062C7")
        let plug = USBPlug(port: "1-1", serial: "0062C7")
        #expect(
            found == [Sighting(id: id, model: .km003c, name: "POWER-Z KM003C", link: .serial(path: path), plug: plug)])
    }

    /// A date, which all of a batch have: one of them is known by its port from the first day on, so that it stays the same
    /// when a second one comes.
    @Test func meterWhoseSerialIsABatchs_isKnownByItsPort() throws {
        let system = try FakeSystem()
        let k2 = (PublishedDevice.named("WITRN K2")?.attributes ?? [:]).merging(["serial": "20230727"]) { $1 }
        _ = try system.addNode("hidraw0")
        try system.addDevice("hidraw0", port: "1-1", depth: 2, attributes: k2)
        let first = system.scanner().scan(declared: []).map(\.id)
        _ = try system.addNode("hidraw1")
        try system.addDevice("hidraw1", port: "1-2", depth: 2, attributes: k2)

        let both = system.scanner().scan(declared: []).map(\.id)
        #expect(first == [.usbPort(vendor: 0x0716, product: 0x5060, host: "pi", path: "1-1")])
        #expect(both == first + [.usbPort(vendor: 0x0716, product: 0x5060, host: "pi", path: "1-2")])
    }

    /// The number of Keil's example, which an FNB48 has (baryluk/fnirsi-usb-power-data-logger fnirsi_logger.py).
    @Test func meterWithAnExamplesSerial_isKnownByItsPort() throws {
        let system = try FakeSystem()
        let fnb48 = (PublishedDevice.named("FNB48")?.attributes ?? [:]).merging(["serial": "0001A0000000"]) { $1 }
        _ = try system.addNode("hidraw0")
        try system.addDevice("hidraw0", port: "1-1", depth: 2, attributes: fnb48)
        #expect(
            system.scanner().scan(declared: []).map(\.id)
                == [.usbPort(vendor: 0x0483, product: 0x003A, host: "pi", path: "1-1")])
    }

    /// Never without the terminal, which the kernel makes later.
    @Test func makersInterface_isALinkBesideTheTerminal() throws {
        let system = try FakeSystem()
        var device = try #require(PublishedDevice.named("KM003C"))
        try system.plug(device, port: "1-1", number: 0, busNumber: 1, deviceNumber: 23)
        device = try #require(.named("FNB58"))
        try system.plug(device, port: "1-2", number: 1, busNumber: 1, deviceNumber: 24)

        let links = system.scanner().scan(declared: []).filter { $0.model == .km003c }.map(\.link)
        let folder = system.deviceFolder
        #expect(links == [.serial(path: "\(folder)/ttyACM0"), .bulk(path: "\(folder)/bus/usb/001/023")])
        #expect(system.scanner().scan(declared: []).count == 3)

        try system.remove("\(folder)/ttyACM0")
        #expect(system.scanner().scan(declared: []).map(\.model) == [.fnb58])
    }

    @Test(arguments: [nil, "", "a:b", "with blank"])
    func meterWithoutAUsableSerial_isKnownByItsPort(serial: String?) throws {
        let system = try FakeSystem()
        let path = try system.addNode("ttyACM3")
        var attributes = tc66
        attributes["serial"] = serial
        try system.addDevice("ttyACM3", port: "1-1.4", attributes: attributes)

        let found = system.scanner().scan(declared: [])

        let id = MeterID.usbPort(vendor: 0x28E9, product: 0x028A, host: "pi", path: "1-1.4")
        let plug = USBPlug(port: "1-1.4", serial: nil)
        #expect(found == [Sighting(id: id, model: .tc66, name: "TC66", link: .serial(path: path), plug: plug)])
        #expect(MeterID(id.description) == id)
    }

    @Test func adapterPort_isFoundTwoStepsUp() throws {
        let system = try FakeSystem()
        _ = try system.addNode("ttyUSB0")
        let adapter = ["idVendor": "0483", "idProduct": "5740", "product": "Meter 1"]
        try system.addDevice("ttyUSB0", port: "1-2", depth: 2, attributes: adapter)
        let table = DeviceTable(rows: [.init(0x0483, 0x5740, .tty, match: "meter", .um25c)])

        #expect(system.scanner(devices: table).scan(declared: []).map(\.model) == [.um25c])
        #expect(system.scanner().scan(declared: []).isEmpty)
    }

    @Test func strangersAndBrokenEntries_areNoMeters() throws {
        let system = try FakeSystem()
        for name in ["ttyACM0", "ttyACM1", "ttyACM2", "ttyS0"] { _ = try system.addNode(name) }
        try system.addDevice("ttyACM0", port: "1-1", attributes: ["idVendor": "1a86", "idProduct": "7523"])
        try system.addDevice("ttyACM1", port: "1-2", attributes: ["idVendor": "rubbish", "idProduct": ""])
        try system.addDevice("ttyS0", port: "1-3", attributes: tc66)
        // Known to the kernel, but its node is not there yet.
        try system.addDevice("ttyACM9", port: "1-4", attributes: tc66)

        #expect(system.scanner().scan(declared: []).isEmpty)
    }

    @Test func declaredPort_isThere_onlyWhileItsNodeIs() throws {
        let system = try FakeSystem()
        let port = DeclaredPort(.serial(path: system.deviceFolder + "/rfcomm0"), model: .um25c, name: "bench")
        #expect(system.scanner().scan(declared: [port]).isEmpty)

        _ = try system.addNode("rfcomm0")

        let id = MeterID.port(host: "pi", path: port.path)
        let expected = Sighting(id: id, model: .um25c, name: "bench", link: .serial(path: port.path))
        #expect(system.scanner().scan(declared: [port]) == [expected])
    }

    @Test func declaredPort_withAnId_goesByThat() throws {
        let system = try FakeSystem()
        let path = try system.addNode("rfcomm0")
        let id = try #require(MeterID("00:15:A5:00:05:92"))
        let found = system.scanner().scan(declared: [DeclaredPort(.serial(path: path), model: .um25c, id: id)])
        #expect(found.map(\.id) == [id])
    }

    @Test func declaredFile_isNoPort() throws {
        let system = try FakeSystem()
        let port = DeclaredPort(.serial(path: system.deviceFolder), model: .um25c)
        #expect(system.scanner().scan(declared: [port]).isEmpty)
    }

    @Test func declaredMeter_isNotReportedTwice_evenByAnotherName() throws {
        let system = try FakeSystem()
        let path = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        let steadyName = try system.addNode("usb-RuiDeng-if00", as: path)

        for declared in [path, steadyName] {
            let found = system.scanner().scan(declared: [DeclaredPort(.serial(path: declared), model: .tc66c)])
            #expect(found.map(\.model) == [.tc66c])
            #expect(found.map(\.link) == [.serial(path: declared)])
        }
    }

    @Test func declaredPort_hidesNoOther() throws {
        let system = try FakeSystem()
        let declared = try system.addNode("rfcomm0", as: "/dev/zero")
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)

        let found = system.scanner().scan(declared: [DeclaredPort(.serial(path: declared), model: .um25c)])

        #expect(found.map(\.model) == [.um25c, .tc66])
    }

    // MARK: Raw HID, and devices of several nodes

    private let fnb58 = PublishedDevice.named("FNB58")?.attributes ?? [:]
    private let km003c = (PublishedDevice.named("KM003C")?.attributes ?? [:]).merging(["serial": "007965"]) { $1 }

    @Test func fnb58_isItsHIDNode_notItsTerminal() throws {
        let system = try FakeSystem()
        let path = try system.addNode("hidraw0")
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-2", interface: 1, attributes: fnb58)
        try system.addDevice("hidraw0", port: "1-2", interface: 3, depth: 2, attributes: fnb58)

        let found = system.scanner().scan(declared: [])

        #expect(found.map(\.model) == [.fnb58])
        #expect(found.map(\.link) == [.hid(path: path)])
    }

    @Test func km003c_isItsTerminal_evenWhereTheListTakesItsHIDNodeToo() throws {
        let system = try FakeSystem()
        let path = try system.addNode("ttyACM0")
        _ = try system.addNode("hidraw0")
        try system.addDevice("ttyACM0", port: "1-1", interface: 1, attributes: km003c)
        try system.addDevice("hidraw0", port: "1-1", interface: 3, depth: 2, attributes: km003c)
        let both = DeviceTable(rows: [.init(0x5FC9, 0x0063, .hidraw, .km003c)] + DeviceTable.builtIn.rows)

        for table in [DeviceTable.builtIn, both] {
            #expect(system.scanner(devices: table).scan(declared: []).map(\.link) == [.serial(path: path)])
        }
    }

    @Test func keyboard_isNoMeter() throws {
        let system = try FakeSystem()
        _ = try system.addNode("hidraw0")
        let keyboard = ["idVendor": "046d", "idProduct": "c31c", "product": "USB Keyboard"]
        try system.addDevice("hidraw0", port: "1-2", depth: 2, attributes: keyboard)
        #expect(system.scanner().scan(declared: []).isEmpty)
    }

    @Test func identicalMeters_areToldApart_bySerialOrByPort() throws {
        let system = try FakeSystem()
        for (index, serial) in ["A", "B"].enumerated() {
            _ = try system.addNode("hidraw\(index)")
            let own = fnb58.merging(["serial": serial]) { $1 }
            try system.addDevice("hidraw\(index)", port: "1-\(index)", interface: 3, depth: 2, attributes: own)
        }
        for index in 0..<2 {
            _ = try system.addNode("ttyACM\(index)")
            try system.addDevice("ttyACM\(index)", port: "2-\(index)", attributes: tc66)
        }
        let found = system.scanner().scan(declared: [])
        #expect(found.count == 4)
        #expect(Set(found.map(\.id)).count == 4)
    }

    /// A maker that gives every device the same serial gives it to none.
    @Test func metersOfOneSerial_areKnownByTheirPorts() throws {
        let system = try FakeSystem()
        for index in 0..<2 {
            _ = try system.addNode("ttyACM\(index)")
            try system.addDevice("ttyACM\(index)", port: "1-\(index)", attributes: km003c)
        }
        let found = system.scanner().scan(declared: [])
        let expected = (0..<2).map { MeterID.usbPort(vendor: 0x5FC9, product: 0x0063, host: "pi", path: "1-\($0)") }
        #expect(found.map(\.id) == expected)
    }

    @Test func sharedSerials_areThoseOfTwins_andThoseThatOthersHave() throws {
        let system = try FakeSystem()
        let devices = [
            (km003c, "1-1"), (km003c, "1-2"), (km003c.merging(["serial": "007966"]) { $1 }, "1-3"),
            (fnb58.merging(["serial": "00000000050C"]) { $1 }, "1-4"),
        ]
        for (index, (attributes, port)) in devices.enumerated() {
            let isHID = attributes["idVendor"] == "2e3c"
            let node = isHID ? "hidraw\(index)" : "ttyACM\(index)"
            try system.addDevice(node, port: port, depth: isHID ? 2 : 1, attributes: attributes)
        }
        let found = DeviceTable.builtIn.sharedSerials(in: system.sysfsFolder)
        #expect(found.map(\.serial) == ["007965", "00000000050C"])
        #expect(found.map(\.ports) == [["1-1", "1-2"], ["1-4"]])
        #expect(found.map(\.isKnown) == [false, true])
    }

    @Test func node_isThere_onceUdevIsDoneWithIt() throws {
        let system = try FakeSystem()
        _ = try system.addNode("ttyACM0")
        try system.addDevice("ttyACM0", port: "1-1", attributes: tc66)
        let hasRules = Mutex(false)
        let scanner = system.scanner { path in
            #expect(path.hasSuffix("/tty/ttyACM0"))
            return !hasRules.withLock { $0 }
        }
        #expect(scanner.scan(declared: []).isEmpty)
        hasRules.withLock { $0 = true }
        #expect(scanner.scan(declared: []).map(\.model) == [.tc66])
    }
}
