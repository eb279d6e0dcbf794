import Domain
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

    /// What is printed is read back the quick way, and no other form is.
    @Test func printedForm_isReadBack_andNoOther() throws {
        for bits in [0, 0x0123_4567_89AB, 0xCDEF_0123_4567, 0xFFFF_FFFF_FFFF] as [UInt64] {
            let address = MACAddress(bits: bits)
            #expect(MACAddress(printed: address.description) == address)
        }
        let printed = Array("AA:BB:CC:DD:EE:0F".utf8)
        for place in printed.indices {
            for byte in [":", "-", "a", "G", " ", "/", "@"] where byte.utf8.first != printed[place] {
                var other = printed
                other.replaceSubrange(place...place, with: byte.utf8)
                #expect(MACAddress(printed: String(decoding: other, as: UTF8.self)) == nil)
            }
        }
        for text in ["", "AA:BB:CC:DD:EE:0", "AA:BB:CC:DD:EE:0F:", "AABBCCDDEE0F", "AA:BB:CC:DD:EE:0É"] {
            #expect(MACAddress(printed: text) == nil)
        }
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

    /// Each octet in its place, with each digit.
    @Test func everyDigit_isWrittenInItsPlace() {
        for place in 0..<12 {
            for digit in UInt64(0)..<16 {
                let address = MACAddress(bits: digit << UInt64(4 * (11 - place)))
                var digits = Array(repeating: "0", count: 12)
                digits[place] = String(digit, radix: 16, uppercase: true)
                let octets = stride(from: 0, to: 12, by: 2).map { digits[$0] + digits[$0 + 1] }
                #expect(address.description == octets.joined(separator: ":"))
                #expect(MACAddress(digits.joined()) == address)
            }
        }
    }

    @Test func kinds_thatLast_andTheTwinOfAGroup() {
        #expect(MACAddress.Kind.allCases.filter(\.isLasting) == [.assigned, .randomStatic])
        #expect(MACAddress(bits: 0x0200_0000_0001).groupTwin == MACAddress(bits: 0x0300_0000_0001))
        #expect(MACAddress(bits: 0x0300_0000_0001).groupTwin == MACAddress(bits: 0x0200_0000_0001))
        #expect(MACAddress(bits: 0).isBlank && MACAddress(bits: .max).isBlank)
        #expect(!MACAddress(bits: 1).isBlank && !MACAddress(bits: 0xFFFF_FFFF_FFFE).isBlank)
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

    @Test func ids_haveOneOrder() throws {
        let texts = ["00:00:00:00:00:09", "00:00:00:00:00:0A", "port:a:/dev/x", "usb:0001:0002:1", "usb:0001:0002:2"]
        let ids = try texts.map { try #require(MeterID($0)) }
        for (place, one) in ids.enumerated() {
            for (otherPlace, other) in ids.enumerated() { #expect((one < other) == (place < otherPlace)) }
        }
    }

    @Test func hostOfAPort_isAnIDOrAName() throws {
        let host = HostID(high: 1, low: 2)
        for (id, isByName) in [
            (MeterID.port(host: "pi", path: "/dev/x"), true), (.port(host: "\(host)", path: "/dev/x"), false),
            (.usbPort(vendor: 1, product: 2, host: "pi", path: "1-1"), true),
            (.usbPort(vendor: 1, product: 2, host: "\(host)", path: "1-1"), false),
            (.usb(vendor: 1, product: 2, serial: "pi"), false), (.mac(MACAddress(bits: 1)), false),
        ] {
            #expect(id.isGivenByName == isByName, "\(id)")
        }
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
        address: MACAddress(bits: 0x0200_0000_250C), isRandom: false, adapter: MACAddress(bits: 0x00AA_0100_0001))

    @Test(arguments: [
        LinkAddress.serial(path: "/dev/serial/by-id/with blanks via x"), .hid(path: "/dev/hidraw0"),
        .network(host: "x:1"), .computed(name: "losses"),
        .ble(radio),
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

    @Test func radioLinks_sayTheirKind_andReadStrictly() {
        let (address, adapter) = ("02:00:00:00:25:0C", "00:AA:01:00:00:01")
        for (text, isRandom) in [
            ("\(address) via \(adapter)", false), ("\(address) random via \(adapter)", true),
            ("\(address) via via \(adapter)", nil), ("\(address) random random via \(adapter)", nil),
            ("\(address) random by \(adapter)", nil), ("random \(address) via \(adapter)", nil),
            ("\(address) via \(adapter) \(adapter)", nil), ("\(address) via zz", nil), ("\(address) random", nil),
        ] as [(String, Bool?)] {
            let link = LinkAddress(transport: "ble", stored: text)
            #expect(link?.radio?.isRandom == isRandom, "\(text)")
            #expect(link.map { $0.stored == text } ?? (isRandom == nil))
            #expect(link?.radio.map { $0.address.description == address && $0.adapter.description == adapter } ?? true)
        }
    }

    @Test(arguments: [
        (LinkAddress.serial(path: "/dev/x"), false), (.hid(path: "/dev/x"), false), (.bulk(path: "/dev/x"), false),
        (.network(host: "x:1"), false), (.computed(name: "x"), false), (.ble(radio), true), (.spp(radio), true),
    ])
    func radios_areBLEAndSPP(link: LinkAddress, isRadio: Bool) {
        #expect(link.isRadio == isRadio)
    }
}

extension LinkAddress {
    fileprivate var radio: RadioLink? {
        switch self {
        case .ble(let radio), .spp(let radio): radio
        case .serial, .hid, .bulk, .network, .computed: nil
        }
    }
}

struct ModelNameTests {
    private let family = MeterFamily("made-up", of: .atorch)

    @Test func models_areTheSameByTheirName() {
        let (one, again, other) = (
            ModelName("xx1", of: family), ModelName("xx1", of: family), ModelName("xx2", of: family)
        )
        #expect(one == one && one == again && one != other)
        #expect(Set([one, again, other]).count == 2)
        #expect(one.hashValue == again.hashValue && one.hashValue != other.hashValue)
        #expect(one.displayName == "XX1")
        #expect(ModelName("xx1", of: family, displayName: "Xx-1").displayName == "Xx-1")
    }

    @Test func modules_haveTheirServices() {
        #expect(RadioModule.oneService.services == [0xFFE0])
        #expect(RadioModule.twoServices.services == [0xFFE0, 0xFFE5])
    }
}

struct UniqueIDTests {
    /// RFC 9562, section 5.4: version 4 in the high half, variant 10 in the low one, and all other bits are the draw's.
    @Test func drawnIDs_areUUIDsOfVersion4() {
        for (bits, high, low) in [
            (UInt64.min, 0x4000, 0x8000_0000_0000_0000), (.max, 0xFFFF_FFFF_FFFF_4FFF, 0xBFFF_FFFF_FFFF_FFFF),
        ] as [(UInt64, UInt64, UInt64)] {
            var rng = SameBits(bits: bits)
            let id = HostID(using: &rng)
            #expect(id.high == high)
            #expect(id.low == low)
        }
    }

    private struct SameBits: RandomNumberGenerator {
        let bits: UInt64
        mutating func next() -> UInt64 { bits }
    }

    @Test func ids_areOrderedByTheirBits() {
        let ids = [HostID(high: 0, low: 1), HostID(high: 0, low: 2), HostID(high: 1, low: 0), HostID(high: 1, low: 1)]
        for (place, one) in ids.enumerated() {
            for (otherPlace, other) in ids.enumerated() { #expect((one < other) == (place < otherPlace)) }
        }
    }

    /// Vigna's own test numbers for the seed 1234567 (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
    @Test func splitMix_drawsItsPublishedNumbers() {
        var rng = SplitMix64(seed: 1_234_567)
        let drawn = (0..<5).map { _ in rng.next() }
        #expect(
            drawn == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }
}
