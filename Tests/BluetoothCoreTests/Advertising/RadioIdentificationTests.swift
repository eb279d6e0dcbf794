import BluetoothCore
import Domain
import MeterCodec
import Testing

struct RadioIdentificationTests {
    @Test(arguments: [
        ("UM24C", ModelName.um24c), ("um25c", .um25c), ("UM34C", .um34c), ("TC66C", .tc66c), ("BT24-M", .tc66c),
        ("FNB58-051772", .fnb58), ("FNB48s-021356", .fnb48s), ("FNB48-000001", .fnb48), ("FNB48P-1", .fnb48s),
        ("C1-123456", .c1), ("UD18-BLE", .atorchUSB), ("UD24_BLE", .atorchUSB), ("J7-C_BLE", .atorchUSB),
        ("AT24-BLE", .atorchAC), ("S1B_BLE", .atorchAC), ("DT24TW_BLE", .atorchDC), ("DL24M_BLE", .dl24),
        ("UC96_BLE", .atorchUSB), ("DT24PW _BLE", .atorchDC), ("CW20_BLE", .atorchDC), ("ATORCH-CW20", .atorchDC),
        ("S1BP_BLE", .atorchAC), ("FNB38-000123", .fnb38), ("FNB-58", .fnb58), ("FNB-58-051772", .fnb58),
        ("FNB58-0517A0", .fnb58), ("E-test BLE", .a3b),
    ])
    func name_tellsTheModel(name: String, model: ModelName) {
        #expect(RadioIdentification(name: name, services: [], kind: .lePublic) == .meter(model))
    }

    @Test(arguments: [
        ("UM25C", ModelName.um25c), ("UD18-SPP", .atorchUSB), ("DL24M_SPP", .dl24), ("BW150_SPP", .dl24),
        ("E-test SPP", .a3b),
    ])
    func name_tellsTheModel_overClassic(name: String, model: ModelName) {
        #expect(RadioIdentification(name: name, services: [], kind: .classic) == .meter(model))
    }

    @Test(arguments: [
        "C1", "FNB58-12g", "C1-12a", "JDY-19", "S10_BLE", "UM25", "UM25CX", "Kitchen", "BT24", "Lamp_BLE", "C1-", "",
    ])
    func otherNames_tellNothing(name: String) {
        #expect(RadioIdentification(name: name, services: [], kind: .lePublic) == .none)
    }

    @Test func meterService_underAnyName_isPerhapsAMeter() {
        let services = [BluetoothUUID(short: 0x180F), BluetoothUUID(short: 0xFFE0)]
        #expect(RadioIdentification(name: "HMSoft", services: services, kind: .lePublic) == .perhaps(.services))
        #expect(
            RadioIdentification(name: nil, services: [.init(short: 0xFFE5)], kind: .leRandom) == .perhaps(.services))
        #expect(RadioIdentification(name: "HMSoft", services: services, kind: .classic) == .none)
    }

    /// A module's own name tells a J7-H only beside the service that its module has not (devanlai/webvoltmeter REVERSE.md).
    @Test func modulesName_tellsTheModel_besideItsServices() {
        let own = [BluetoothUUID(short: 0xFFE0)]
        #expect(RadioIdentification(name: "JDY-19", services: own, kind: .lePublic) == .perhaps(.services))
        let both = own + [BluetoothUUID(short: 0xFEE7)]
        #expect(RadioIdentification(name: "JDY-19", services: both, kind: .lePublic) == .meter(.atorchUSB))
    }

    /// Names that tell no model, whatever services were heard: enough to offer it, and never to take it for one.
    @Test(
        arguments: [
            ("FNIRSI-1", [], [.lePublic], .makersName(.fnirsi)), ("XY99-SPP", [], [.classic], .makersName(.atorch)),
            ("XY99_BLE", [0xFFE0], [.lePublic, .classic], .makersName(.atorch)),
            ("TC66", [], [.lePublic], .makersName(.rdtech)), ("TC66-0123", [0xFFE0], [.lePublic], .makersName(.rdtech)),
            ("PW0316", [], [.lePublic], .modulesName), ("pw0316", [0xFFE0, 0xFFE5], [.lePublic], .modulesName),
            ("BT18", [], [.lePublic, .classic], .modulesName), ("DX-BT18", [], [.lePublic, .classic], .modulesName),
        ] as [(String, [UInt32], [RadioAddress.Kind], RadioIdentification.Hint)])
    func name_isPerhapsAMeters(
        name: String, services: [UInt32], kinds: [RadioAddress.Kind], hint: RadioIdentification.Hint
    ) {
        let services = services.map { BluetoothUUID(short: $0) }
        for kind in [RadioAddress.Kind.lePublic, .classic] {
            let found = RadioIdentification(name: name, services: services, kind: kind)
            #expect(found == (kinds.contains(kind) ? .perhaps(hint) : .none), "\(kind)")
        }
    }

    @Test func hostileName_isNotSearched() {
        let name = String(repeating: "UM25C", count: 50) + "_BLE"
        #expect(RadioIdentification(name: name, services: [], kind: .lePublic) == .none)
    }
}
