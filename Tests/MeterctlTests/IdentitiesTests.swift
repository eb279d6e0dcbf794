import Domain
import Foundation
import MeterCodec
import ProgramKit
import Testing

@testable import meterctl

/// What published devices say of themselves, and what each is taken for.
struct IdentitiesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Rows that others keep, beside this project's folder.
    private static let others = root.deletingLastPathComponent().appending(path: "shared/meters/identities")

    /// A row of Tests/Identities.
    private struct Fixture: Decodable {
        var source: String
        var expect: Expectation

        struct Expectation: Decodable, Equatable {
            var model: String?
            var family: String?
            var transport: String
        }
    }

    private static func verdicts(_ file: URL) throws -> [IdentityVerdict] {
        try Identify.verdicts(on: Array(try Data(contentsOf: file)), in: file.path)
    }

    @Test(arguments: ["meters", "not-meters"])
    func everyFixture_isTakenForWhatItIs(file: String) throws {
        let path = Self.root.appending(path: "Tests/Identities/\(file).json")
        let fixtures = try JSONDecoder().decode([Fixture].self, from: Data(contentsOf: path))
        let verdicts = try Self.verdicts(path)

        #expect(fixtures.count == verdicts.count)
        #expect(fixtures.allSatisfy { !$0.source.isEmpty })
        for (fixture, verdict) in zip(fixtures, verdicts) {
            let found = Fixture.Expectation(
                model: verdict.model?.rawValue, family: verdict.maker?.rawValue, transport: verdict.transport)
            #expect(found == fixture.expect, "\(verdict.given)")
        }
        if file == "not-meters" { #expect(verdicts.allSatisfy { $0.model == nil && $0.maker == nil }) }
    }

    /// Whoever adds a row there has it judged here: it has a model, or Docs/Identities.md has the reason.
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Self.others.path),
            "there are no rows of others: put them into ../shared/meters/identities"),
        arguments: ["usb", "ble", "classic", "not-meters"])
    func everyRowOfOthers_hasAModel_orAReason(file: String) throws {
        let verdicts = try Self.verdicts(Self.others.appending(path: "\(file).json"))
        let reasons = try String(contentsOf: Self.root.appending(path: "Docs/Identities.md"), encoding: .utf8)

        #expect(!verdicts.isEmpty)
        for verdict in verdicts where verdict.model == nil {
            #expect(reasons.contains(Self.gist(of: verdict.reason)), "\(verdict.reason): \(verdict.given)")
        }
        if file == "not-meters" { #expect(verdicts.allSatisfy { $0.model == nil }) }
    }

    /// What stands in the document: the reason up to a colon, a comma or a semicolon.
    private static func gist(of reason: String) -> String {
        String(reason.prefix { !":,;".contains($0) })
    }

    @Test func unknownTextOfAKnownVendor_isToBeReported() throws {
        let row = #"{"vid": "2E3C", "pid": "1234", "manufacturer": "FNIRSI", "product": "FNB-99"}"#
        let verdict = try #require(try Identify.verdicts(on: Array(row.utf8), in: "-").first)

        #expect(verdict.model == nil)
        #expect(verdict.maker == .fnirsi)
        #expect(verdict.reason == "looks like a meter, not recognised: 2e3c:1234 FNIRSI FNB-99, please report it")
    }

    /// The same ids with the interfaces of each, in any order and under any number.
    @Test func interfaces_areToldByTheirClass() throws {
        func model(_ classes: [String]) throws -> ModelName? {
            let list = classes.map { #"{"class": "\#($0)"}"# }.joined(separator: ",")
            let row = #"{"vid": "2E3C", "pid": "5558", "interfaces": [\#(list)]}"#
            return try Identify.verdicts(on: Array(row.utf8), in: "-").first?.model
        }
        #expect(try model(["08", "02", "0A", "03"]) == .fnb58)
        #expect(try model(["03", "0A", "02", "08"]) == .fnb58)
        #expect(try model(["02", "0A", "03"]) == .fnbC2)
        #expect(try model(["03", "02", "0A"]) == .fnbC2)
        #expect(try model(["03"]) == .fnb58)
    }

    @Test(arguments: ["", "[", "7", #"["x"]"#, #"[{"vid": 1155}]"#])
    func whatIsNoListOfObjects_isRefused(text: String) {
        #expect(throws: CommandFailure.self) { try Identify.verdicts(on: Array(text.utf8), in: "-") }
    }

    @Test func rowThatSaysNothing_isNothing() throws {
        let verdicts = try Identify.verdicts(on: Array(#"[{}, {"vid": "x"}, {"bus": "can"}]"#.utf8), in: "-")
        #expect(verdicts.map(\.model) == [nil, nil, nil])
        #expect(verdicts.map(\.transport) == ["unknown", "usb", "unknown"])
    }

    @Test func encoded_hasEveryKey_andTheRowAsItWas() throws {
        let verdict = try #require(
            try Identify.verdicts(on: Array(#"{"name": "UM25C", "address": null, "handle": 3}"#.utf8), in: "-").first)
        let data = try JSONEncoder().encode(TakenFor(verdict, given: verdict.given))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])

        #expect(Swift.Set(object.keys) == ["given", "model", "family", "transport", "reason"])
        #expect(object["model"] as? String == "um25c")
        #expect(object["family"] as? String == "rdtech")
        #expect(verdict.given == .object(["name": .text("UM25C"), "address": .null, "handle": .integer(3)]))
    }
}
