import Domain
import Testing

struct LimitParserTests {
    private static func limit(
        _ measure: Limit.Measure, _ comparison: Limit.Comparison, _ bound: Double, _ unit: String? = nil,
        _ factor: Double = 1
    ) -> Limit {
        Limit(text: "", measure: measure, comparison: comparison, bound: bound, typedUnit: unit, typedFactor: factor)
    }

    @Test(arguments: [
        ("mean(current) < 15 mA", limit(.mean(.current), .below, 0.015, "mA", 0.001)),
        ("max(current) < 9 mA", limit(.greatest(.current), .below, 0.009, "mA", 0.001)),
        ("MAX(Power)<=2W", limit(.greatest(.power), .atMost, 2, "W")),
        ("min( voltage ) ≥ 4.75 V", limit(.least(.voltage), .atLeast, 4.75, "V")),
        ("energy < 0.1 Wh", limit(.energy, .below, 0.1, "Wh")),
        ("charge above 2Ah", limit(.charge, .above, 2000, "Ah", 1000)),
        ("duration < 2 h", limit(.duration, .below, 7200, "h", 3600)),
        ("count > 100", limit(.count, .above, 100)),
        ("p99.9(current) < 40 mA", limit(.percentile(.current, 99.9), .below, 0.04, "mA", 0.001)),
        ("median(d+) > 600mV", limit(.percentile(.dataPlus, 50), .above, 0.6, "mV", 0.001)),
        ("stddev(voltage) < 10 mV", limit(.deviation(.voltage), .below, 0.01, "mV", 0.001)),
        ("peak-to-peak(temperature) < 5 C", limit(.range(.temperature), .below, 5, "C")),
        ("p2p(power_factor) < 0.1", limit(.range(.powerFactor), .below, 0.1)),
        ("mean(current) > 0", limit(.mean(.current), .above, 0)),
        ("voltage > 4.75 V for 99.9 %", limit(.share(.voltage, .above, 4.75), .atLeast, 99.9)),
        ("voltage > 4.75 V for 0 %", limit(.share(.voltage, .above, 4.75), .atLeast, 0)),
        ("voltage > 4.75V for 100%", limit(.share(.voltage, .above, 4.75), .atLeast, 100)),
    ])
    func text_isRead(text: String, expected: Limit) throws {
        var found = try LimitParser.limit("  \(text) ")

        #expect(found.text == text)
        found.text = ""
        // To the last bit: 9 times a thousandth is not nine thousandths.
        #expect(found == expected)
    }

    @Test func temperature_mayBeBelowZero() throws {
        #expect(try LimitParser.limit("min(temperature) > -5 °C").bound == -5)
    }

    @Test func longestText_isRead() throws {
        let text = "count > 1" + String(repeating: " ", count: 191)
        #expect(try LimitParser.limit(text).bound == 1)
    }

    /// Whatever is not clear is refused, with the word that is not.
    @Test(arguments: [
        ("", "the limit is empty"), ("foo", "\"foo\" is not a limit"), ("mean(current) < 50", "50 has no unit"),
        ("mean(temperature) > 0", "0 has no unit"), ("energy < 0.1", "0.1 has no unit"),
        ("max(voltage) < 4,75V", "\"4,75V\" has a comma"), ("max(voltage) < V", "\"V\" is not a number"),
        ("max(voltage) < 5 A", "\"A\" is not a unit of voltage"),
        ("max(voltage) < 5A", "\"A\" is not a unit of voltage"),
        ("max(voltage) 5 V", "\"5\" compares nothing"), ("max(voltage", "a bracket is not closed"),
        ("max(energy) < 1 Wh", "\"energy\" only rises"),
        ("max(curent) < 1 A", "\"curent\" is nothing that is measured"),
        ("avg(current) < 1 A", "\"avg\" is not a function"),
        ("p0(current) < 1 A", "\"p0\" is not a function"), ("p100(current) < 1 A", "\"p100\" is not a function"),
        ("q50(current) < 1 A", "\"q50\" is not a function"), ("pnan(current) < 1 A", "\"pnan\" is not a function"),
        ("p1e1(current) < 1 A", "\"p1e1\" is not a function"),
        ("current < 50 mA", "it does not say which values of current it means"),
        ("voltage > 5 V for 10s", "\"10s\" is not a number"),
        ("voltage > 5 V for 101 %", "\"for\" is followed by no share of the time"),
        ("energy < 1 Wh for 5 %", "energy has no share of the time"), ("count > x", "\"x\" is not a number"),
        ("count > 1e13", "\"1e13\" is not a number"), ("mean(price) < 1", "\"price\" is not measured, but set"),
        ("min(current) > -5 A", "current counts by its size, so it is never below 0"),
        ("duration > -1 s", "duration counts by its size, so it is never below 0"),
        ("mean(current) < 1 mA mA", "\"mA\" does not belong there"),
        ("mean(current) < 1e13 A", "\"e13\" is not a unit of current"),
        (String(repeating: "<", count: 201), "a limit of 201 characters is too long"),
    ])
    func text_isRefused(text: String, message: String) {
        let error = #expect(throws: AlertSyntaxError.self) { try LimitParser.limit(text) }

        #expect(error?.message == message)
        #expect(error?.next.isEmpty == false)
    }
}
