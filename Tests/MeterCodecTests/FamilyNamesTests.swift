import Domain
import MeterCodec
import Testing

/// What a family takes for one of its meters by the name alone, over which radio.
struct FamilyNamesTests {
    private static let radios: [LinkAddress.Transport] = [.ble, .spp]

    private func model(
        _ name: String, over radio: LinkAddress.Transport, services: Set<UInt16> = []
    ) -> ModelName? {
        let advertised = AdvertisedName(name, over: radio, services: services)
        let models = MeterCatalogue.standard.families.compactMap { $0.model(named: advertised) }
        // No two families claim one name.
        #expect(models.count <= 1, "\(name)")
        return models.first
    }

    @Test(
        arguments: [
            ("UM24C", ModelName.um24c), ("UM25C", .um25c), ("UM34C", .um34c), ("E-test BLE", .a3b),
            ("E-test SPP", .a3b),
            ("UD18-BLE", .atorchUSB), ("UD18-SPP", .atorchUSB), ("T18_BLE", .atorchUSB), ("T18X_BLE", .atorchUSB),
            ("T180_BLE", nil),
            ("UT18A_SPP", .atorchUSB), ("AT24_BLE", .atorchAC), ("DL24_BLE", .dl24), ("DL24 _SPP", .dl24),
            ("DL24", nil), ("DL24-XYZ", nil), ("_BLE", nil), ("", nil),
        ] as [(String, ModelName?)])
    func name_isAModel_overEitherRadio(name: String, model: ModelName?) {
        for radio in Self.radios { #expect(self.model(name, over: radio) == model, "\(radio)") }
        #expect(self.model(name.lowercased(), over: .ble) == model)
    }

    @Test(arguments: [
        ("TC66C", ModelName.tc66c), ("BT24-M", .tc66c), ("FNB58", .fnb58), ("FNB48S-1", .fnb48s), ("C1-12", .c1),
        ("FNB-58-0A", .fnb58), ("ATORCH-CW20", .atorchDC),
    ])
    func name_isAModel_overLEAlone(name: String, model: ModelName) {
        #expect(self.model(name, over: .ble) == model)
        #expect(self.model(name, over: .spp) == nil)
    }

    @Test(arguments: [
        "TC66", "TC66CX", "BT24", "C1", "FNB", "FNB58-", "FNB58-G", "C1-1A", "FNB59-1", "X-1", "S10_BLE", "DT3010_BLE1",
        "UM25C ",
    ])
    func otherName_isNoModel(name: String) {
        for radio in Self.radios { #expect(model(name, over: radio) == nil, "\(radio)") }
    }

    /// A stranger's name is no maker's, and a maker's that of one.
    @Test(arguments: [("GALAXY BUDS", 0), ("", 0), ("XYZ_BLE", 1), ("FNIRSI-9", 1), ("TC66", 1)])
    func makersName_isThatOfOneFamily(name: String, count: Int) {
        #expect(MeterCatalogue.standard.families.count { $0.isMakersName(name) } == count)
    }

    @Test func modulesName_isAModel_besideOneServiceOverLE() {
        #expect(model("JDY-19", over: .ble, services: [0xFEE7, 0xFFE0]) == .atorchUSB)
        #expect(model("JDY-19", over: .ble, services: [0xFFE0]) == nil)
        #expect(model("JDY-19", over: .spp, services: [0xFEE7]) == nil)
    }

    /// Each model over exactly these links.
    @Test func links_areThoseThatTheModelsHave() {
        let catalogue = MeterCatalogue.standard
        let links: [LinkAddress.Transport: [ModelName]] = [
            .serial: [
                .um24c, .um25c, .um34c, .a3b, .tc66, .tc66c, .km002c, .km003c, .atorchUSB, .atorchDC, .atorchAC, .dl24,
                .avhzyCT3, .avhzyC3, .zy1276, .zy1280, .ppk2, .generic,
            ],
            .ble: [
                .um24c, .um25c, .um34c, .a3b, .tc66c, .fnb38, .fnb48, .fnb48s, .fnb58, .c1, .fnbC2, .atorchUSB,
                .atorchDC,
                .atorchAC, .dl24,
            ],
            .spp: [.um24c, .um25c, .um34c, .a3b, .atorchUSB, .atorchDC, .atorchAC, .dl24],
            .bulk: [.km002c, .km003c],
            .network: [.tasmota, .tasmotaPolled, .shelly, .mqttMeter, .esphome],
            .computed: [.byFormula],
        ]
        for (transport, models) in links {
            #expect(catalogue.models(over: transport) == models, "\(transport)")
        }
        let hid = catalogue.models.filter { [.fnirsi, .witrn, .km001, .acd15p, .fl001].contains($0.family) }
        #expect(catalogue.models(over: .hid) == hid)
        for model in catalogue.models {
            #expect(catalogue.driver(for: model)?.profile.model == model)
            #expect(catalogue.transports(of: model).isEmpty == false)
        }
    }
}
