import CoreTestKit
import Domain
import Testing

struct RecordingRecordTests {
    private func recording(seed: UInt64) throws -> Recording {
        var rng = SeededRNG(seed: seed)
        var machine = RecordingMachine()
        machine.start(at: 0, name: seed % 2 == 0 ? "a / name: with+signs" : nil)
        var time = 0.0
        for number in 0..<100 {
            time += Double(rng.below(1500)) / 100
            if rng.below(10) == 0 { machine.linkLost() }
            let charge = Double(rng.below(20) == 0 ? 0 : number)
            _ = machine.received(.at(time, Double(rng.below(3000)) / 1000, charge: charge, energy: charge / 200))
        }
        return try #require(seed % 3 == 0 ? machine.stop(at: time).ended : machine.recording)
    }

    /// Of what another version or a broken record leaves out nothing is made up, and each mark is told for its own reason.
    @Test func missingProperties_areNothing_andMarksAreToldEach() throws {
        let id = try recording(seed: 1).id
        func recorded(_ more: [String: SettingValue]) throws -> Recording {
            let properties: [String: SettingValue] = ["trigger": .string("hand"), "readings": .int(5)]
            return try #require(Recording(id: id, properties: properties.merging(more) { $1 }))
        }
        #expect(try recorded([:]).totals.recorded == .zero)
        #expect(try recorded(["recorded_ms": .int(-5)]).totals.recorded == .zero)
        #expect(try recorded(["recorded_ms": .int(1)]).totals.recorded == .milliseconds(1))
        #expect(try recorded([:]).marks.isEmpty)
        // A whole number is one too.
        #expect(try recorded(["meter_charge_mAh": .int(5)]).totals.charge.total == 5)
        #expect(try recorded(["meter_charge_mAh": .double(5.5)]).totals.charge.total == 5.5)
        #expect(try recorded(["meter_charge_mAh": .double(.infinity)]).totals.charge.total == nil)
        #expect(try recorded(["meter_charge_mAh": .string("5")]).totals.charge.total == nil)
        let counters = try recording(seed: 1).properties.keys.filter { $0.hasSuffix("_jumps") }
        #expect(counters.count == 2, "\(counters)")
        for key in counters { #expect(try recorded([key: .int(1)]).marks == [.counterJump], "\(key)") }
    }

    @Test func recording_comesBack_fromItsProperties() throws {
        for seed in UInt64(0)..<100 {
            let recording = try recording(seed: seed)

            let again = try #require(Recording(id: recording.id, properties: recording.properties))

            #expect(again.name == recording.name)
            #expect(again.end == recording.end)
            #expect(again.until == recording.until)
            #expect(again.totals.gaps == recording.totals.gaps, "seed \(seed)")
            #expect(again.totals.gapTime.milliseconds == recording.totals.gapTime.milliseconds)
            #expect(again.totals.readings == recording.totals.readings)
            #expect(again.totals.charge.total == recording.totals.charge.total)
            #expect(again.totals.charge.resets == recording.totals.charge.resets)
            #expect(again.marks == recording.marks)
            #expect(again.totals.current.greatest == recording.totals.current.greatest)
            #expect(
                ((again.totals.charge_mAh ?? 0) - (recording.totals.charge_mAh ?? 0)).magnitude < 1e-9, "seed \(seed)")
            #expect(
                ((again.totals.energy_Wh ?? 0) - (recording.totals.energy_Wh ?? 0)).magnitude < 1e-9, "seed \(seed)")
        }
    }

    /// Any record may be sent by another host: it is read as far as it makes sense, and never traps.
    @Test func strangeProperties_areNoTrap() {
        let id = RecordingID(host: .there, meter: .bench, token: 0, started: .start)
        let strange: [SettingValue] = [
            .null, .bool(true), .int(.min), .int(.max), .double(1e308), .double(-0.0), .string(""), .string("1+2:link"),
            .string("9223372036854775807+9223372036854775807:link -5+3:host x+y:z 1+-1:link"),
        ]
        for seed in UInt64(0)..<2000 {
            var rng = SeededRNG(seed: seed)
            var properties = (try? recording(seed: 4))?.properties ?? [:]
            for key in properties.keys.sorted() where rng.below(3) == 0 {
                properties[key] = strange[rng.below(strange.count)]
            }

            if let read = Recording(id: id, properties: properties) {
                _ = read.marks
                _ = read.totals.duration
                _ = read.properties
            }
        }
        #expect(Recording(id: id, properties: [:]) == nil)
    }

    @Test func record_isNoLargerThanRecordsMayBe() throws {
        var machine = RecordingMachine()
        machine.start(at: 0, name: String(repeating: "ä", count: 64))
        for number in 0..<300 { _ = machine.received(.at(Double(number) * 1e6, 1, charge: 1, energy: 1)) }
        let recording = try #require(machine.recording)

        let stamp = Stamp(milliseconds: 1, counter: 0, host: .here)
        let record = SyncRecord(
            key: RecordKey(type: .recording, name: recording.id.recordName),
            properties: recording.properties.mapValues { Register(value: $0, stamp: stamp) })
        #expect(record.fault == nil)
        #expect(recording.totals.gaps.count == RecordingTotals.gapsMax)
    }

    // MARK: - Names

    @Test(arguments: [
        MeterID.bench, .usb(vendor: 0x5FC9, product: 0x63, serial: "A/B %"), .port(host: "pi", path: "/dev/ttyUSB0"),
    ])
    func name_readsBack(_ meter: MeterID) {
        let id = RecordingID(host: .here, meter: meter, token: 1 << 52, started: .start)

        #expect(id.recordName.split(separator: "/").count == 4)
        #expect(RecordingID(recordName: id.recordName) == id)
        #expect(id.short.count == 8)
    }

    @Test(arguments: ["", "a/b/c/d", "/02:00:00:00:25:0C/0/0", "11111111-1111-4111-8111-111111111111/02/0"])
    func name_isNone_whereItIsAnotherText(_ text: String) {
        #expect(RecordingID(recordName: text) == nil)
    }

    // MARK: - Overlaps

    private func stretch(_ from: Int, _ to: Int?, on host: HostID = .here, of meter: MeterID = .bench) -> Recording {
        Recording(
            id: RecordingID(host: host, meter: meter, token: 0, started: .start + .seconds(from)), trigger: .hand,
            end: to == nil ? nil : .hand, until: .start + .seconds(to ?? from))
    }

    /// By their start, then by their name; never before itself.
    @Test func ids_haveOneOrder() {
        let ids = [
            RecordingID(host: .there, meter: .bench, token: 9, started: .start),
            RecordingID(host: .here, meter: .bench, token: 1, started: .start + .milliseconds(1)),
            RecordingID(host: .here, meter: .bench, token: 2, started: .start + .milliseconds(1)),
            RecordingID(host: .there, meter: .bench, token: 1, started: .start + .milliseconds(1)),
        ]
        for (place, one) in ids.enumerated() {
            for (otherPlace, other) in ids.enumerated() { #expect((one < other) == (place < otherPlace)) }
            #expect(RecordingID(recordName: one.recordName) == one)
            #expect(one.short.count == 8)
        }
        #expect(ids[1].short == fold(ids[1].recordName))
    }

    /// As http://www.isthe.com/chongo/tech/comp/fnv/ has it, with a plain product.
    private func fold(_ text: String) -> String {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)).multipliedFullWidth(by: 1_099_511_628_211).low }
        let digits = String((hash >> 32) ^ (hash & 0xFFFF_FFFF), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    @Test func overlaps_areFound_onBothSides() {
        let (a, b) = (stretch(0, 10), stretch(5, 20, on: .there))

        #expect(Recording.overlaps(among: [b, a]) == [a.id: [b.id], b.id: [a.id]])
    }

    @Test func neighbours_andOtherMeters_areNoOverlap() {
        let other = stretch(0, 100, of: .mac(MACAddress(bits: 1)))

        #expect(Recording.overlaps(among: [stretch(0, 10), stretch(10, 20), other]).isEmpty)
    }

    @Test func whatGoesOn_overlapsAllThatBeganSince() {
        let (open, later) = (stretch(0, nil), stretch(500, 600, on: .there))

        #expect(Recording.overlaps(among: [open, later])[later.id] == [open.id])
    }
}
