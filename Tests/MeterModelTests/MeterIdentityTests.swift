import MeterModel
import Testing

struct MACAddressTests {
    @Test(arguments: [
        "AA:BB:CC:DD:EE:0F", "aa:bb:cc:dd:ee:0f", "AA-BB-CC-DD-EE-0F", "aabbccddee0f", "AaBbCcDdEe0F",
        "  AA:BB:CC:DD:EE:0F", "aabbccddee0f\n", "\t AA-BB-CC-DD-EE-0F \r\n", "AA BB CC DD EE 0F",
        "aa.bb.cc.dd.ee.0f", "aabb.ccdd.ee0f", "AABB.CCDD.EE0F ", "aa:bb:cc:dd:ee:f", "AA-BB-CC-DD-EE-F",
        "aa.bb.cc.dd.ee.F", "AA BB CC DD EE F",
    ])
    func everyForm_isOneAddress(_ text: String) throws {
        let address = try #require(MACAddress(text))

        #expect(address.description == "AA:BB:CC:DD:EE:0F")
        #expect(address == MACAddress(bits: 0xAABB_CCDD_EE0F))
    }

    @Test(arguments: [
        "", " ", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:0F:11", "AA:BB:CC:DD:EE:0G", "AA:BB-CC:DD-EE:0F",
        "AABB:CCDD:EE0F", "AABB-CCDD-EE0F", "aab.ccdd.ee0f", "aabb.ccdd.ee0", "aabb.ccddee0f", "aabb.ccdd.ee.0f",
        "AA::BB:CC:DD:EE", "AA:BB:CC:DD:EE:", ":AA:BB:CC:DD:EE", "AA  BB CC DD EE F", "AA_BB_CC_DD_EE_0F",
        "aabbcc:ddee0f", "A:BB:CC:DD:EE:0FF", "aabbccddee0", "aabbccddee0f0", "AA:BB:CC:DD:EE:0É",
        "AA:BB:CC: DD:EE:0F", "0AA:BB:CC:DD:EE:0F", "AA:BB:CC:DD:EE:00F",
    ])
    func anythingElse_isNoAddress(_ text: String) {
        #expect(MACAddress(text) == nil)
    }

    @Test func singleDigits_arePadded_whereSeparatorsShowThem() {
        #expect(MACAddress("2:0:0:0:25:c") == MACAddress(bits: 0x0200_0000_250C))
        #expect(MACAddress("0-0-0-0-0-1") == MACAddress(bits: 1))
    }

    @Test func identity_isRefused_whereTheAddressIsNoDevices() {
        #expect(MACAddress(bits: 0).identityFault(of: nil) == .blank)
        #expect(MACAddress(bits: 0xFFFF_FFFF_FFFF).identityFault(of: .randomStatic) == .blank)
        #expect(MACAddress(bits: 0x4000_0000_0001).identityFault(of: .resolvable) == .changing)
        #expect(MACAddress(bits: 0x0000_0000_0001).identityFault(of: .nonResolvable) == .changing)
    }

    @Test func identity_isTaken_whereTheAddressLasts() {
        #expect(MACAddress(bits: 1).identityFault(of: .assigned) == nil)
        #expect(MACAddress(bits: 0x0200_0000_0001).identityFault(of: .assigned) == nil)
        // The group bit of a random address is chance, and nobody knows which kind a typed one is.
        #expect(MACAddress(bits: 0xC100_0000_0001).identityFault(of: .randomStatic) == nil)
        #expect(MACAddress(bits: 0x0100_0000_0001).identityFault(of: nil) == nil)
    }

    @Test func randomKind_isInTheTopBits() {
        #expect(MACAddress(bits: 0xC000_0000_0000).randomKind == .randomStatic)
        #expect(MACAddress(bits: 0x7F00_0000_0000).randomKind == .resolvable)
        #expect(MACAddress(bits: 0x3F00_0000_0000).randomKind == .nonResolvable)
        #expect(MACAddress(bits: 0x8000_0000_0000).randomKind == nil)
    }

    @Test func flags_areBitsOfTheFirstOctet() {
        #expect(MACAddress(bits: 0x0200_0000_0000).isLocallyAdministered)
        #expect(!MACAddress(bits: 0x0100_0000_0000).isLocallyAdministered)
        #expect(MACAddress(bits: 0x0100_0000_0000).hasGroupBit)
        #expect(!MACAddress(bits: 0x02FF_FFFF_FFFF).hasGroupBit)
    }

    @Test func bitsAbove48_areDropped() {
        #expect(MACAddress(bits: 0xFFFF_0000_0000_0001) == MACAddress(bits: 1))
        #expect(MACAddress(bits: 1).description == "00:00:00:00:00:01")
    }
}

struct MeterIDTests {
    @Test(arguments: [
        (MeterID.mac(MACAddress(bits: 0x0200_0000_250C)), "02:00:00:00:25:0C"),
        (.usb(vendor: 0x5FC9, product: 0x63, serial: "007965"), "usb:5fc9:0063:007965"),
        (.usbPort(vendor: 0x28E9, product: 0x028A, host: "pi", path: "1-1.4"), "usb:28e9:028a:pi:1-1.4"),
        (.usbPort(vendor: 0, product: 0xFFFF, host: "pi", path: "1-1.4:1.0"), "usb:0000:ffff:pi:1-1.4:1.0"),
        (.port(host: "pi", path: "/dev/rfcomm0"), "port:pi:/dev/rfcomm0"),
        (.usb(vendor: 1, product: 2, serial: "a:b"), "usb:0001:0002:a%3Ab"),
        (.usb(vendor: 1, product: 2, serial: "100%:%3A"), "usb:0001:0002:100%25%3A%253A"),
        (.usbPort(vendor: 1, product: 2, host: "h:1%", path: "1-1:%3A"), "usb:0001:0002:h%3A1%25:1-1:%3A"),
        (.port(host: "fe80::1", path: "/dev/x%25"), "port:fe80%3A%3A1:/dev/x%25"),
        (
            .port(host: "pi", path: "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0"),
            "port:pi:/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0"
        ),
    ])
    func id_isWrittenInOneForm_andReadBack(_ id: MeterID, _ text: String) {
        #expect(id.description == text)
        #expect(MeterID(text) == id)
    }

    @Test(arguments: [
        ("aabbccddeeff", "AA:BB:CC:DD:EE:FF"), (" aa-bb-cc-dd-ee-ff ", "AA:BB:CC:DD:EE:FF"),
        ("usb:1:2:50%", "usb:0001:0002:50%25"), ("usb:1:2:%3a%4", "usb:0001:0002:%3A%254"),
        ("USB:5FC9:63:007965", "usb:5fc9:0063:007965"), ("Port:pi:/dev/rfcomm0", "port:pi:/dev/rfcomm0"),
    ])
    func otherForms_areNormalised(_ text: String, _ normal: String) {
        #expect(MeterID(text)?.description == normal)
    }

    @Test(arguments: [
        "", "usb", "usb:5fc9", "usb:5fc9:0063", "usb:5fc9:0063:", "usb:xyz:0063:1", "usb:10000:0063:1",
        "usb:5fc9:0063::path",
        "usb:5fc9:0063:pi:",
        "usb:+12:0063:1", "usb:5fc9:-1:1", "usb:5fc9::1", "port", "port:pi", "port:pi:", "port::/dev/x", "bench meter",
        "AA:BB:CC", "00:00:00:00:00:00", "000000000000", "0:0:0:0:0:0", "FF-FF-FF-FF-FF-FF", "ffff.ffff.ffff",
    ])
    func anythingElse_isNoID(_ text: String) {
        #expect(MeterID(text) == nil)
    }

    @Test func localIDs_areThoseWithAPortInThem() {
        #expect(!MeterID.mac(MACAddress(bits: 1)).isLocalOnly)
        #expect(!MeterID.usb(vendor: 1, product: 2, serial: "3").isLocalOnly)
        #expect(MeterID.usbPort(vendor: 1, product: 2, host: "pi", path: "1-1").isLocalOnly)
        #expect(MeterID.port(host: "pi", path: "/dev/rfcomm0").isLocalOnly)
    }
}

struct LinkAddressTests {
    private static let radio = RadioLink(
        address: MACAddress(bits: 0x0200_0000_250C), adapter: MACAddress(bits: 0x00AA_0100_0001))

    @Test(arguments: [
        LinkAddress.serial(path: "/dev/serial/by-id/with blanks via x"), .hid(path: "/dev/hidraw0"), .ble(radio),
        .ble(RadioLink(address: radio.address, isRandom: true, adapter: radio.adapter)), .spp(radio),
    ])
    func everyLink_isReadBackAsItWasStored(link: LinkAddress) {
        #expect(LinkAddress(transport: link.transport.rawValue, stored: link.stored) == link)
    }

    @Test(arguments: [
        "", "02:00:00:00:25:0C", "via", "02:00:00:00:25:0C by 00:AA:01:00:00:01", "02:00:00:00:25:0C via",
        "02:00:00:00:25:0C public via 00:AA:01:00:00:01", "zz via 00:AA:01:00:00:01",
    ])
    func whatIsNoRadioLink_isNil(text: String) {
        #expect(LinkAddress(transport: "ble", stored: text) == nil)
        #expect(LinkAddress(transport: "spp", stored: text) == nil)
    }

    @Test func unknownTransport_isNil() {
        #expect(LinkAddress(transport: "zigbee", stored: "/dev/x") == nil)
    }
}
