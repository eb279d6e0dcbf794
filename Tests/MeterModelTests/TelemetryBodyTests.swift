import Domain
import Foundation
import Testing

/// What a meter tells besides readings.
struct TelemetryBodyTests {
    /// What is not known is null: the key alone says that the model has it.
    @Test func values_areWrittenAsTheirKinds_andReadBack() throws {
        let values: [String: TelemetryBody.Value] = [
            "flag": .flag(true), "number": .number(2.5), "text": .text("CC"), "unknown": .unknown,
        ]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys

        let written = try encoder.encode(values)

        #expect(String(decoding: written, as: UTF8.self) == #"{"flag":true,"number":2.5,"text":"CC","unknown":null}"#)
        let read = try JSONDecoder().decode([String: TelemetryBody.Value].self, from: written)
        #expect(read == values)
    }

    /// A whole number has no decimals, as far as it is exact.
    @Test(
        arguments: [
            (.number(5), "5"), (.number(-3), "-3"), (.number(2.5), "2.5"),
            (.number(999_999_999_999_999), "999999999999999"), (.number(1e300), "1e+300"), (.text("CC"), "CC"),
            (.flag(true), "yes"), (.flag(false), "no"), (.unknown, "–"),
        ] as [(TelemetryBody.Value, String)])
    func value_isShownAsPeopleWriteIt(value: TelemetryBody.Value, text: String) { #expect("\(value)" == text) }
}
