import Foundation
import MeterCodec
import MeterModel
import Testing

/// What the pages say, held against what the drivers do.
struct MeterPagesTests {
    private let pages = MeterPages.standard
    private static let families = MeterCatalogue.standard.families.map(\.family)

    @Test(arguments: families)
    func page_namesEveryCommand_andItsLargestNumber(family: MeterFamily) throws {
        let page = try pages.page(of: family)
        for rule in pages.rules(of: family) {
            #expect(MeterPages.names(of: rule.kind).contains { page.contains($0) }, "\(rule.kind.rawValue)")
            guard let largest = rule.numbers?.upperBound else { continue }
            #expect(page.contains("`\(largest)`"), "\(rule.kind.rawValue) takes up to \(largest)")
        }
    }

    @Test(arguments: families)
    func page_namesNoCommandThatNoneHas(family: MeterFamily) throws {
        let page = try pages.page(of: family)
        let known = Set(pages.rules(of: family).map(\.kind))
        for kind in MeterCommand.Kind.allCases where !known.contains(kind) {
            #expect(!MeterPages.names(of: kind).contains { page.contains($0) }, "\(kind.rawValue)")
        }
    }

    @Test(arguments: MeterCatalogue.standard.models)
    func everyModel_isInTheList(model: ModelName) throws {
        let family = try #require(try pages.line(of: model.family))
        if model.family != .atorch { #expect(family.contains(model.displayName)) }
        for transport in MeterCatalogue.standard.transports(of: model) {
            let words: [LinkAddress.Transport: String] = [
                .serial: "USB", .hid: "USB", .bulk: "USB", .ble: "Bluetooth LE", .spp: "Classic",
            ]
            // No radio module has a serial port that people could reach.
            if model.family == .um, transport == .serial { continue }
            let word = model.family == .atorch && transport == .serial ? "serial" : words[transport]
            #expect(family.contains(try #require(word)), "\(transport)")
        }
    }
}
