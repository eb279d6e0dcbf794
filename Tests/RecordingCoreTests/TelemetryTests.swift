import CoreTestKit
import Domain
import Testing

/// What a meter told at the beginning and the end of a recording.
struct TelemetryTests {
    private func told(_ mode: String, charge: Double = 0) -> TelemetryBody {
        var told = TelemetryBody()
        told.details = ["charging_mode": .text(mode)]
        told.groups = [.init(index: 0, charge_mAh: charge, energy_Wh: charge / 200)]
        return told
    }

    @Test func firstIsKept_andTheLastReplaced() throws {
        var machine = RecordingMachine()
        machine.told(told("before"))
        machine.start(at: 0)
        #expect(machine.recording?.toldAtStart == nil)

        _ = machine.received(.at(1, 1))
        machine.told(told("DCP", charge: 1))
        machine.told(told("QC 3.0", charge: 2))
        let recording = try #require(machine.stop(at: 2).ended)
        machine.told(told("after"))

        #expect(recording.toldAtStart == told("DCP", charge: 1))
        #expect(recording.toldAtEnd == told("QC 3.0", charge: 2))
        #expect(machine.recording == nil)
    }

    @Test func recordKeepsIt() throws {
        var machine = RecordingMachine()
        machine.start(at: 0)
        machine.told(told("DCP 1.5 A = \"fast\"", charge: 1.25))
        let recording = try #require(machine.recording)

        let again = try #require(Recording(id: recording.id, properties: recording.properties))

        #expect(again.toldAtStart == recording.toldAtStart)
        #expect(again.toldAtEnd == recording.toldAtEnd)
        #expect(recording.properties["told_start"] != nil)
    }

    @Test(arguments: 0..<UInt64(100)) func anyOfIt_comesBackFromItsText(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var told = TelemetryBody()
        let letters = Array("aé=: %_\n9")
        func word() -> String { String((0..<rng.below(9)).map { _ in letters[rng.below(letters.count)] }) }
        for _ in 0..<rng.below(8) {
            let values: [TelemetryBody.Value] = [
                .number(Double(rng.below(100_000)) / 7), .text(word()), .flag(rng.below(2) == 0), .unknown,
            ]
            told.details[word()] = values[rng.below(4)]
        }
        for index in 0..<rng.below(11) {
            told.groups.append(
                .init(index: index, charge_mAh: Double(rng.below(9999)), energy_Wh: Double(rng.below(99)) / 3))
        }

        #expect(TelemetryBody(text: told.text) == told, "seed \(seed)")
    }

    @Test(arguments: ["", "=", "a", "a=", "a=x:1", "group=1:2", "a=n:nan", "a=t:%zz", "group=a:b:c", "a=n:"])
    func whatMakesNoSense_isLeftOut(text: String) {
        #expect(TelemetryBody(text: text) == TelemetryBody())
    }
}
