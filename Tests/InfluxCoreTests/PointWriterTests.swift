import InfluxCore
import MeterModel
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

    @Test func readingOfWhichNothingIsKnown_isNoPoint() {
        var nothing = Reading()
        nothing[.voltage] = nil

        #expect(line([], nothing).isEmpty)
    }
}
