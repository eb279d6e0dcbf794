import Domain
import Foundation
import MeterCodec
import Testing
import USBTransport

struct DeviceTableTests {
    @Test func builtInTable_isTheListInUdev() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "udev/devices.tsv"), encoding: .utf8)
        // The list is by vendor, the table by family: within each, the order is one.
        let order = MeterCatalogue.standard.families.map(\.family)
        let listed = try #require(DeviceTable(tsv: text)).rows
        let byFamily = order.flatMap { family in listed.filter { $0.model.family == family } }
        #expect(DeviceTable(rows: byFamily) == .builtIn)
        #expect(byFamily.count == listed.count)
    }

    @Test func noRowOfAnAmbiguousVendor_isWithoutText_butForMetersOwnProducts() {
        let rows = DeviceTable.builtIn.rows.filter {
            !DeviceTable.builtIn.tells(vendor: $0.vendor, product: $0.product)
        }
        #expect(rows.allSatisfy { $0.match != nil })
        #expect(!rows.isEmpty)
    }

    /// Docs/Identities.md#over-usb.
    @Test(arguments: [
        (0x28E9, 0x0189, "RuiDeng", ModelName.tc66 as ModelName?), (0x28E9, 0x0189, "GigaDevice", nil),
        (0x5FC9, 0x0063, "anything", .km003c), (0x5FC9, 0x0061, "", .km002c), (0x5FC9, 0x0060, "", nil),
        (0x1A86, 0x7523, "USB Serial", nil), (0x0483, 0x374B, "ST-Link", nil),
        (0x1915, 0xC00A, "PPK2", .ppk2), (0x1915, 0xC00A, "nRF Connect USB CDC ACM", nil),
        // On hidraw only; its CDC ports are something else.
        (0x2E3C, 0x5558, "FNB58", nil),
    ])
    func terminal_isAMeter_byIdsAndText(vendor: UInt16, product: UInt16, text: String, model: ModelName?) {
        let found = DeviceTable.builtIn.model(vendor: vendor, product: product, subsystem: .tty, texts: [text])
        #expect(found == model)
    }

    /// Their texts are `FNB-48` and `USB Tester` (baryluk/fnirsi-usb-power-data-logger): the ids have to do.
    @Test func metersOwnProducts_needNoText() {
        for (product, model) in [(0x003A, ModelName.fnb48), (0x003B, .c1)] as [(UInt16, ModelName)] {
            for texts in [[], ["FNIRSI", "FNB-48"], ["USB Tester"]] {
                let found = DeviceTable.builtIn.model(
                    vendor: 0x0483, product: product, subsystem: .hidraw, texts: texts)
                #expect(found == model)
            }
        }
        #expect(DeviceTable.builtIn.model(vendor: 0x0483, product: 0x3748, subsystem: .hidraw, texts: []) == nil)
    }

    @Test func interfaces_tellDevicesOfTheSameIds_whateverTheOrderOfRows() throws {
        let text = "2E3C\t5558\thidraw 02 !08\t-\tfnb-c2\tx\n2E3C\t5558\thidraw\t-\tfnb58\tx\n"
        for table in [try #require(DeviceTable(tsv: text)), .builtIn] {
            func model(_ classes: Set<UInt8>?) -> ModelName? {
                table.model(vendor: 0x2E3C, product: 0x5558, subsystem: .hidraw, texts: [], classes: classes)
            }
            #expect(model([0x08, 0x02, 0x0A, 0x03]) == .fnb58)
            #expect(model([0x02, 0x0A, 0x03]) == .fnbC2)
            #expect(model([0x03]) == .fnb58)
            #expect(model(nil) == .fnb58)
        }
    }

    /// A layout before a text, a text before a product, and of two alike the first; whatever the order of the others.
    @Test func rowThatAsksForMost_decides() {
        let rows = [
            USBIdentity(0x1209, nil, .hidraw, .um24c), USBIdentity(0x1209, 1, .hidraw, .um25c),
            USBIdentity(0x1209, nil, .hidraw, match: "x", .um34c), USBIdentity(0x1209, 1, .hidraw, match: "x", .tc66),
            USBIdentity(0x1209, nil, .hidraw, layout: .init(has: [3]), .fnb58),
        ]
        for rows in [rows, rows.reversed()] {
            let table = DeviceTable(rows: rows)
            func model(_ product: UInt16, _ text: String, _ classes: Set<UInt8>?) -> ModelName? {
                table.model(
                    vendor: 0x1209, product: product, subsystem: .hidraw, texts: [text], classes: classes)
            }
            #expect(model(2, "", nil) == .um24c)
            #expect(model(1, "", nil) == .um25c)
            #expect(model(2, "X", nil) == .um34c)
            #expect(model(1, "X", nil) == .tc66)
            #expect(model(1, "X", [3]) == .fnb58)
        }
        let alike = DeviceTable(rows: [USBIdentity(0x1209, 1, .tty, .c1), USBIdentity(0x1209, 1, .tty, .fnb48)])
        #expect(alike.model(vendor: 0x1209, product: 1, subsystem: .tty, texts: []) == .c1)
    }

    /// Docs/Identities.md#over-usb.
    @Test(arguments: [
        (0x5060, "WITRN.K2", ModelName.witrnK2), (0x5053, "", .witrnAny), (0x5053, "WITRN.C4", .witrnAny),
        (0x5053, "witrn.c4l", .witrnC4L), (0x5064, "", .witrnC5), (0x9999, "", .witrnAny), (0x5044, "", .witrnU3),
        (0x5063, "", .witrnU3), (0x5054, "", .witrnU3L), (0x5045, "", .witrnA2), (0x5050, "", .witrnA2L),
        (0x5030, "", .witrnU2p),
    ])
    func witrn_isToldByItsProduct(product: UInt16, text: String, model: ModelName) {
        let found = DeviceTable.builtIn.model(vendor: 0x0716, product: product, subsystem: .hidraw, texts: [text])
        #expect(found == model)
    }

    /// Ids of ST's and Nuvoton's: nothing without a text.
    @Test(arguments: [
        (0x0483, 0xFFFE, "Korona YK003C in Application Mode", ModelName.avhzyC3 as ModelName?),
        (0x0483, 0xFFFF, "anything in application mode", .avhzyCT3), (0x0483, 0xFFFF, "", nil),
        (0x0483, 0x374B, "STM32 STLink", nil), (0x0483, 0x374B, "X in Application Mode", .avhzyCT3),
        (0x0483, 0x5740, "X in Application Mode", nil),
    ])
    func ct3_isToldByItsText(vendor: UInt16, product: UInt16, text: String, model: ModelName?) {
        let found = DeviceTable.builtIn.model(vendor: vendor, product: product, subsystem: .tty, texts: [text])
        #expect(found == model)
    }

    @Test(arguments: [
        (0x0483, 0x5750, "Atorch ACD15P", ModelName.acd15p as ModelName?), (0x0483, 0x5F50, "C13P", .c13p),
        (0x0483, 0x5750, "KM001 Pro", .km001Pro), (0x0416, 0x1234, "POWER-Z KM001 Pro", .km001Pro),
        (0x0483, 0x5750, "", nil), (0x0483, 0x5F50, "", nil), (0x0416, 0x5750, "Nuvoton", nil),
    ])
    func km001AndItsKin_areToldByTheirText(vendor: UInt16, product: UInt16, text: String, model: ModelName?) {
        let found = DeviceTable.builtIn.model(vendor: vendor, product: product, subsystem: .hidraw, texts: [text])
        #expect(found == model)
    }

    @Test func hidraw_knowsTheFNB58() {
        let found = DeviceTable.builtIn.model(vendor: 0x2E3C, product: 0x5558, subsystem: .hidraw, texts: [])
        #expect(found == .fnb58)
    }

    @Test func ambiguousVendorWithoutText_claimsNothing_withText() throws {
        let table = try #require(
            DeviceTable(tsv: "1A86\t7523\ttty\t-\tum25c\tbad line\n0483\t5740\ttty\tMeter\tum34c\tgood line\n"))
        #expect(table.rows.count == 2)
        #expect(table.model(vendor: 0x1A86, product: 0x7523, subsystem: .tty, texts: ["USB Serial"]) == nil)
        #expect(table.model(vendor: 0x0483, product: 0x5740, subsystem: .tty, texts: ["STM32"]) == nil)
        #expect(table.model(vendor: 0x0483, product: 0x5740, subsystem: .tty, texts: ["My METER"]) == .um34c)
    }

    @Test(arguments: [
        "28E9\t*\ttty\t-\ttc66", "XXXX\t*\ttty\t-\ttc66\tnote", "28E9\tany\ttty\t-\ttc66\tnote",
        "28E9\t*\ttty xx\t-\ttc66\tnote", "28E9\t*\t\t-\ttc66\tnote",
        "28E9\t*\tusbmisc\t-\ttc66\tnote", "28E9\t*\ttty\t-\tnothing\tnote",
    ])
    func lineOfAnotherForm_isRefused(line: String) {
        #expect(DeviceTable(tsv: line) == nil)
    }
}
