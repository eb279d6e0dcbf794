import Domain
import Foundation
import MeterCodec
import Testing

@testable import meterd

/// Meters that a person describes in meterd.toml: `[model.NAME]`.
struct ModelConfigurationTests {
    private func failure(_ text: String) -> String? {
        do {
            _ = try Configuration(reading: text)
            return nil
        } catch {
            return (error as? ConfigurationError)?.description
        }
    }

    @Test func describedModel_isAPortsModel() throws {
        let configuration = try Configuration(
            reading: """
                [[port]]
                path = "/dev/ttyACM0"
                model = "INA226"

                [model.ina226]
                baud-rate = 9600
                [model.ina226.fields]
                V = "voltage"
                "Load current" = { quantity = "current", factor = 1e-3, offset = -0.002, range = [-20, 20], unit = "mA" }
                """)
        let model = try #require(configuration.ports.first?.declared.model)

        #expect(model.rawValue == "ina226")
        #expect(configuration.catalogue.driver(for: model)?.profile.baudRate == 9600)
        var decoder = try #require(configuration.catalogue.decoder(named: "ina226"))
        decoder.append(Array("V=5.02;Load current=312.0 mA\r\n".utf8))
        guard case .frame(let frame)? = decoder.next() else {
            Issue.record("the line does not fit")
            return
        }
        frame.forEachReading { #expect($0[.current].map { ($0 * 1000).rounded() } == 310) }
    }

    @Test func errors_nameTheFile_theKey_theValue_andTheRemedy() {
        #expect(
            failure("[model.a]\nfields = { V = \"voltage\" }\nbaud-rate = \"fast\"\n")
                == "meterd.toml: model.a.baud-rate cannot be \"fast\"\nit takes a whole number from 1200 to 2000000")
        #expect(
            failure("[model.a]\nfields = { V = 1979-05-27 }\n")?.hasPrefix(
                "meterd.toml: model.a.fields.V cannot be 1979-05-27\n")
                == true)
        #expect(failure("[model.a]\n")?.hasPrefix("meterd.toml: model.a.fields is missing\n") == true)
        #expect(
            failure("[model.um25c]\nfields = { V = \"voltage\" }\n")
                == "meterd.toml: [model.um25c] has the name of a model that is known without it\ncall it something else"
        )
        #expect(
            failure("[model.\"A b\"]\nfields = { V = \"voltage\" }\n")?.contains("[model.A b] cannot be called \"A b\"")
                == true)
        #expect(failure("model = 1\n")?.contains("model has the wrong type") == true)
        #expect(failure("[model]\na = 1\n")?.contains("model.a has the wrong type") == true)
        #expect(
            failure("[[port]]\npath = \"/dev/ttyACM0\"\nmodel = \"b\"\n[model.a]\nfields = { V = \"voltage\" }\n")?
                .hasSuffix(", a") == true)
    }

    @Test func sixtyFourModels_areTheMost() throws {
        func text(_ count: Int) -> String {
            (0..<count).map { "[model.m\($0)]\nfields = { V = \"voltage\" }\n" }.joined()
        }
        #expect(
            try Configuration(reading: text(64)).catalogue.models.count == MeterCatalogue.standard.models.count + 64)
        #expect(failure(text(65))?.contains("there are 65 [model.…]") == true)
    }

    // MARK: The page

    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "Docs/Meters/GENERIC.md"), encoding: .utf8)
    }

    /// The blocks of a page in one language, in order.
    private static func blocks(_ language: String) throws -> [String] {
        try page().components(separatedBy: "```\(language)\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// Each example of the page is legal, and the lines that stand below it are readings; all but the ones that begin with
    /// a "#".
    @Test func examplesOfThePage_decodeTheirLines() throws {
        let examples = try Self.blocks("toml")
        let lines = try Self.blocks("text")
        #expect(examples.count == lines.count)
        #expect(examples.count >= 4)
        for (example, text) in zip(examples, lines) {
            let configuration = try Configuration(reading: example)
            let model = try #require(configuration.ports.first?.declared.model)
            var decoder = try #require(configuration.catalogue.decoder(named: model.rawValue))
            decoder.append(Array(text.utf8))
            var readings = 0
            while let step = decoder.next() {
                switch step {
                case .frame(let frame):
                    frame.forEachReading {
                        readings += 1
                        #expect($0[.voltage] != nil || $0[.temperature] != nil)
                    }
                case .skipped(_, .noStartMark): break
                case .skipped(_, let error): Issue.record("\(example)\n\(text)\n\(error)")
                }
            }
            let expected = text.split(separator: "\n").count { !$0.hasPrefix("#") }
            #expect(readings == expected, "\(text)")
        }
    }

    /// What the sketch prints is what its description expects.
    @Test func sketchOfThePage_printsWhatItsDescriptionReads() throws {
        let sketch = try #require(try Self.blocks("cpp").first)
        let example = try #require(try Self.blocks("toml").first)
        let model = try Configuration(reading: example).ports.first?.declared.model
        #expect(sketch.contains("Serial.begin(115200)"))
        #expect(sketch.contains("\"V=\"") && sketch.contains("\";A=\""))
        #expect(model == .generic)
    }
}
