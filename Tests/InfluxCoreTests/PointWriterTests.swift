import Domain
import Testing

struct PointWriterTests {
    private func line(
        _ tags: [(key: String, value: String?)] = [], measurement: String = "meter", _ reading: Reading
    ) -> String {
        var bytes: [UInt8] = []
        PointWriter(measurement: measurement, tags: tags)
            .append(WallTime(millisecondsSince1970: 1_780_000_000_250), reading, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var reading: Reading {
        var reading = Reading()
        (reading[.voltage], reading[.current], reading[.temperature]) = (5.012, 1e-5, nil)
        return reading
    }

    @Test func point_hasTagsInOrder_knownFieldsAndMilliseconds() {
        #expect(
            line([("name", "bench"), ("id", "02:00:00:00:25:0C"), ("host", "pi")], reading)
                == "meter,host=pi,id=02:00:00:00:25:0C,name=bench voltage_V=5.012,current_A=1e-05 1780000000250\n")
    }

    @Test func specialLetters_areEscaped_asTheProtocolSays() {
        #expect(
            line([("name", "old, fast=yes")], measurement: "my meter,1", reading)
                .hasPrefix(#"my\ meter\,1,name=old\,\ fast\=yes voltage_V"#))
        // Nothing of a name ends the line or takes the next letter's escape.
        #expect(line([("name", "a\nb\u{7}\\")], reading).hasPrefix(#"meter,name=a\ b\ / voltage_V"#))
        #expect(line([("name", "Büro 💡")], reading).hasPrefix(#"meter,name=Büro\ 💡 voltage_V"#))
    }

    @Test func tagsWithoutAValue_areLeftOut() {
        #expect(line([("name", nil), ("model", "")], reading).hasPrefix("meter voltage_V"))
    }

    /// A counter of the meter's own leaps where another group is chosen. What is added up is meterd's total, if there is one.
    @Test(arguments: [(0.25, ",energy_Wh=0.25"), (nil, "")] as [(Double?, String)])
    func energy_isTheTotal_besideTheMetersOwn(total: Double?, field: String) {
        var reading = reading
        reading[.energy] = 500
        if total != nil { reading[.countedEnergy] = total }
        #expect(
            line([], reading) == "meter voltage_V=5.012,current_A=1e-05\(field),own_energy_Wh=500.0 1780000000250\n")
        reading = Reading()
        reading[.countedEnergy] = -1
        #expect(line([], reading) == "meter counted_energy_Wh=-1.0 1780000000250\n")
    }

    @Test func readingOfWhichNothingIsKnown_isNoPoint() {
        var nothing = Reading()
        nothing[.voltage] = nil

        #expect(line([], nothing).isEmpty)
    }
}
