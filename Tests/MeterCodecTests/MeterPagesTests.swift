import Foundation
import MeterCodec
import MeterModel
import Testing

/// The pages that people read about their meters (Docs/Meters), beside what the drivers say.
struct MeterPagesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/Meters")

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    private static func page(of family: MeterFamily) throws -> String { try page(name(of: family)) }

    private static func name(of family: MeterFamily) -> String {
        switch family {
        case .um: "UM"
        case .tc66: "TC66"
        case .fnirsi: "FNIRSI"
        case .km003c: "KM003C"
        case .atorch: "Atorch"
        }
    }

    private static func rules(of family: MeterFamily) -> [MeterProfile.CommandRule] {
        ModelName.allCases.filter { $0.family == family }
            .compactMap { MeterCatalogue.driver(for: $0) }.flatMap(\.profile.commands)
    }

    /// As a command, or as the setting that sends it.
    private static func names(of kind: MeterCommand.Kind) -> [String] {
        let setting = kind == .recordThreshold ? "threshold" : kind.rawValue
        return ["`\(kind.rawValue)`", "`\(kind.rawValue) ", " \(kind.rawValue)`", "`\(setting)="]
    }

    @Test(arguments: MeterFamily.allCases)
    func page_namesEveryCommand_andItsLargestNumber(family: MeterFamily) throws {
        let page = try Self.page(of: family)
        for rule in Self.rules(of: family) {
            #expect(Self.names(of: rule.kind).contains { page.contains($0) }, "\(rule.kind.rawValue)")
            guard let largest = rule.numbers?.upperBound else { continue }
            #expect(page.contains("`\(largest)`"), "\(rule.kind.rawValue) takes up to \(largest)")
        }
    }

    @Test(arguments: MeterFamily.allCases)
    func page_namesNoCommandThatNoneHas(family: MeterFamily) throws {
        let page = try Self.page(of: family)
        let known = Set(Self.rules(of: family).map(\.kind))
        for kind in MeterCommand.Kind.allCases where !known.contains(kind) {
            #expect(!Self.names(of: kind).contains { page.contains($0) }, "\(kind.rawValue)")
        }
    }

    @Test(arguments: ModelName.allCases)
    func everyModel_isInTheList(model: ModelName) throws {
        let list = try Self.page("README")
        let link = "](\(Self.name(of: model.family)).md)"
        let family = try #require(list.split(separator: "\n").first { $0.contains(link) })
        if model.family != .atorch { #expect(family.contains(model.displayName)) }
        for transport in MeterCatalogue.transports(of: model) {
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
