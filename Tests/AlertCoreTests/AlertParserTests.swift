import Domain
import Testing

struct AlertParserTests {
    @Test(arguments: [
        ("current < 50mA for 2m", AlertPattern(.level(.current, .below, 0.05), hold: .seconds(120))),
        ("current below 50 mA for 2 min", AlertPattern(.level(.current, .below, 0.05), hold: .seconds(120))),
        ("Voltage > 5.5V", AlertPattern(.level(.voltage, .above, 5.5))),
        ("voltage_V >= 5.5V", AlertPattern(.level(.voltage, .above, 5.5))),
        ("power above 10W hysteresis 500mW", AlertPattern(.level(.power, .above, 10), hysteresis: 0.5)),
        (
            "power is over 10 W hysteresis 1 W for 90 seconds",
            .init(.level(.power, .above, 10), hold: .seconds(90), hysteresis: 1)
        ),
        ("temperature rate > 2°C/min", AlertPattern(.rate(.temperature, .above, AlertRate(2, per: .minute)))),
        ("temperature rate above 2 °C per h", AlertPattern(.rate(.temperature, .above, AlertRate(2, per: .hour)))),
        (
            "voltage rate < -0.5V/s for 1s",
            .init(.rate(.voltage, .below, AlertRate(-0.5, per: .second)), hold: .seconds(1))
        ),
        ("charge > 2Ah", AlertPattern(.level(.charge, .above, 2000))),
        ("energy > 1.5kWh", AlertPattern(.level(.energy, .above, 1500))),
        ("temperature > -5C", AlertPattern(.level(.temperature, .above, -5))),
        ("resistance<100ohm", AlertPattern(.level(.resistance, .below, 100))),
        ("d+ > 600mV", AlertPattern(.level(.dataPlus, .above, 0.6))),
        ("power_factor < 0.5", AlertPattern(.level(.powerFactor, .below, 0.5))),
        ("counted_energy > 1Wh", AlertPattern(.level(.countedEnergy, .above, 1))),
        ("current > 5µA", AlertPattern(.level(.current, .above, 5e-6))),
        ("stale", AlertPattern(.stale, hold: .seconds(30))),
        ("stale for 5m", AlertPattern(.stale, hold: .seconds(300))),
        ("stale for 1s", AlertPattern(.stale, hold: .seconds(1))),
        ("stale for 24h", AlertPattern(.stale, hold: .seconds(86_400))),
        ("state is offline for 1m", AlertPattern(.state(.offline, isIt: true), hold: .seconds(60))),
        ("state is not data-available", AlertPattern(.state(.dataAvailable, isIt: false))),
        ("holder changes", AlertPattern(.holderChanges)),
    ])
    func text_isRead(text: String, expected: AlertPattern) throws {
        var found = try AlertParser.pattern(text)

        #expect(found.text == text)
        found.text = ""
        #expect(found.hysteresis == expected.hysteresis)
        #expect(found.hold == expected.hold)
        #expect(found.condition.isNear(expected.condition), "\(found.condition)")
    }

    @Test(arguments: [
        ("", "the condition is empty", "for example"),
        ("curent < 1A", "\"curent\" is nothing that can be watched", "did you mean current?"),
        ("volt > 5", "\"volt\" is nothing that can be watched", "did you mean voltage?"),
        ("xyzzy > 5", "\"xyzzy\" is nothing that can be watched", "it takes voltage, current"),
        ("current 5A", "\"5A\" compares nothing", "it takes <, >, above, below or rate"),
        ("current belwo 5A", "\"belwo\" compares nothing", "did you mean below?"),
        ("current <", "the number is missing", "for example current > 5A"),
        ("current < much", "\"much\" is not a number", "it takes a number such as 5A or 0.5"),
        ("current < 5V", "\"V\" is not a unit of current", "it takes µA, uA, mA, A"),
        ("current < 5MA", "\"MA\" is not a unit of current", "it takes µA"),
        ("price > 5€", "\"€\" is not a unit of price", "price has no unit"),
        ("current < -1A", "current is compared by its size", "leave the sign out"),
        ("current < 1e3A", "\"e3A\" is not a unit", "it takes µA"),
        ("temperature rate > 2°C", "the rate has no time", "2°C/min"),
        ("temperature rate > 2°C/day", "the rate has no time", "2°C/min"),
        ("current < 50", "50 has no unit", "it takes one of µA, uA, mA, A"),
        ("current < 50 for 2m", "50 has no unit", "mA"), ("voltage > 5 hysteresis 1V", "5 has no unit", "mV, V, kV"),
        ("voltage > 5V hysteresis 1", "1 has no unit", "mV, V, kV"), ("temperature > 0", "0 has no unit", "°C"),
        ("temperature rate > 2/min", "2 has no unit", "°C"), ("voltage > 4,75V", "\"4,75V\" has a comma", "4.75"),
        ("current < 1A for", "the time after \"for\" is missing", "30s, 2m or 1h"),
        ("current < 1A for ever", "\"ever\" is not a time to hold", "0s to 24h"),
        ("current < 1A for 25h", "\"25h\" is not a time to hold", "0s to 24h"),
        ("current < 1A fro 2m", "\"fro\" does not belong there", "did you mean for?"),
        ("current < 1A for 2m for 3m", "\"for\" does not belong there", "nothing, or hysteresis"),
        ("current < 1A hysteresis -1A", "less than nothing", "0 or more"),
        ("state offline", "\"offline\" does not belong there", "after state: is, or is not"),
        ("state is oflline", "\"oflline\" is not a state", "did you mean offline?"),
        ("state is purple", "\"purple\" is not a state", "the states are offline, not-connected"),
        ("stale for 10ms", "\"10ms\" is too short", "1s to 24h"),
        ("stale hysteresis 5", "only a value has a hysteresis", "leave it out"),
        ("holder", "the end does not belong there", "after holder: changes"),
        ("holder changes for 2m", "does not last", "leave \"for …\" out"),
    ])
    func mistake_isNamedWithWhatIsLegal(text: String, message: String, next: String) {
        do {
            let found = try AlertParser.pattern(text)
            Issue.record("\(text) is read as \(found)")
        } catch {
            #expect(error.message.contains(message), "\(error)")
            #expect(error.next.contains(next), "\(error)")
        }
    }

    /// Every unit of every quantity, as it is written and in small letters where that leaves no doubt.
    @Test func everyUnit_isWorthWhatItSays() throws {
        let volts: [(String, Double)] = [("mV", 1e-3), ("V", 1), ("kV", 1e3)]
        let wattHours: [(String, Double)] = [("mWh", 1e-3), ("Wh", 1), ("kWh", 1e3)]
        let charges: [(String, Double)] = [("mAh", 1), ("Ah", 1000)]
        let units: [Quantity: [(String, Double)]] = [
            .voltage: volts, .dataPlus: volts, .dataMinus: volts, .cc1: volts, .cc2: volts, .supplyVoltage: volts,
            .current: [("µA", 1e-6), ("μA", 1e-6), ("uA", 1e-6), ("mA", 1e-3), ("A", 1)],
            .power: [("mW", 1e-3), ("W", 1), ("kW", 1e3)], .energy: wattHours, .countedEnergy: wattHours,
            .charge: charges, .countedCharge: charges, .temperature: [("°C", 1), ("C", 1)],
            .resistance: [("mΩ", 1e-3), ("Ω", 1), ("kΩ", 1e3), ("mohm", 1e-3), ("ohm", 1), ("kohm", 1e3)],
            .frequency: [("Hz", 1), ("kHz", 1e3)], .duration: [("s", 1), ("min", 60), ("h", 3600)], .powerFactor: [],
            .price: [], .ratio: [],
        ]
        for quantity in Quantity.allCases {
            for (unit, factor) in [("", 1)] + (units[quantity] ?? []) {
                for text in Set([unit, unit.lowercased()]) {
                    let found = try AlertParser.pattern("\(quantity.alertWord) > 5\(text)", isStored: true)
                    #expect(found.condition.isNear(.level(quantity, .above, 5 * factor)), "\(quantity) \(text)")
                }
            }
            for other in ["x", "Mx", "mX"] {
                #expect(throws: AlertSyntaxError.self) { try AlertParser.pattern("\(quantity.alertWord) > 5\(other)") }
            }
        }
    }

    /// Earlier versions took numbers without units. What they stored keeps its meaning, and gets its unit.
    @Test(arguments: [
        ("current < 50", "current < 50A"), ("current < 0.05 for 2m", "current < 0.05A for 2m"),
        ("voltage >= 5.5", "voltage >= 5.5V"), ("temperature rate > 2/min", "temperature rate > 2°C/min"),
        ("temperature rate > 2 per h", "temperature rate > 2°C per h"), ("temperature < 0", "temperature < 0°C"),
        ("power > 10W hysteresis 1", "power > 10W hysteresis 1W"), ("current > 0", "current > 0"),
        ("charge > 2000", "charge > 2000mAh"), ("duration > 5", "duration > 5s"), ("resistance > 5", "resistance > 5Ω"),
        ("power-factor < 0.5", "power-factor < 0.5"), ("current  < 50mA", "current < 50mA"), ("stale", "stale"),
    ])
    func storedNumber_getsItsUnit(stored: String, text: String) throws {
        let found = try AlertParser.pattern(stored, isStored: true)
        #expect(found.text == text)
        #expect(try AlertParser.pattern(text) == found)
    }

    @Test(arguments: [
        ("current < 50mA for 2m", "current below 50 mA for 2m; it is 0.34 A now, so the condition is not met"),
        ("current < 0.5A", "current below 0.5 A; it is 0.34 A now, so the condition is met already"),
        ("current > 300uA", "current above 0.3 mA; it is 0.34 A now, so the condition is met already"),
        ("voltage > 5V", "voltage above 5 V; the meter does not report it now"),
        ("temperature rate > 2°C/min", "rate of temperature above 2 °C/min; it is known after 1m of readings"),
        ("state is not offline", "state other than offline; it is communicating now, so the condition is met already"),
        ("stale for 5m", "no reading for 5m"), ("holder changes", "holder changes"),
    ])
    func verdict_saysWhatWasUnderstood(text: String, words: String) throws {
        var reading = Reading()
        reading[.current] = -0.34
        #expect(try AlertParser.pattern(text).verdict(on: reading, .communicating) == words)
    }

    /// However it is said, it is the same.
    @Test(arguments: [
        [
            "voltage > 5V", "voltage >= 5V", "voltage ≥ 5V", "voltage above 5V", "voltage over 5 V",
            "voltage is above 5V",
        ],
        ["voltage < 5V", "voltage <= 5V", "voltage ≤ 5V", "voltage below 5V", "voltage under 5 V", "voltage is < 5V"],
        ["voltage rate > 2V/s", "voltage rate > 2/sec", "voltage rate > 2 V per second", "voltage_V rate over 2/s"],
        ["voltage rate > 2/min", "voltage rate > 2/m", "voltage rate > 2 per minute", "voltage rate > 2V/min"],
        ["voltage rate > 2/h", "voltage rate > 2/hour", "voltage rate > 2 per hour"],
        ["state is offline for 90s", "state = offline for 1.5m", "STATE IS OFFLINE FOR 90 SECONDS"],
        [
            "stale for 2m", "stale for 2min", "stale for 2 minutes", "stale for 2minute", "stale for 120",
            "stale for 120s",
        ],
        ["stale for 2m", "stale for 120sec", "stale for 120 sec", "stale for 120 s", "stale for 120000ms"],
        ["stale for 1h", "stale for 1 h", "stale for 60 m", "stale for 60 min", "stale for 3600 seconds"],
        ["d- > 1V", "d− > 1V", "dn > 1", "dn_V > 1"], ["d+ > 1V", "dp_v > 1"],
        ["power-factor > 1", "power_factor > 1"],
        [
            "voltage > 5V for 2s hysteresis 1V", "voltage > 5V hysteresis 1V for 2s",
            "voltage > 5V for 2s hysteresis 1 V",
        ],
        [
            "voltage rate > 2/s hysteresis 1/s", "voltage rate > 2/s hysteresis 1",
            "voltage rate > 2/s hysteresis 1V/sec",
        ],
    ])
    func sameMeaning_isTheSamePattern(texts: [String]) throws {
        let patterns = try texts.map {
            var pattern = try AlertParser.pattern($0, isStored: true)
            pattern.text = ""
            return pattern
        }
        for (text, pattern) in zip(texts, patterns) { #expect(pattern == patterns[0], "\(text)") }
    }

    /// What a limit may be: its exact ends.
    @Test(arguments: [
        ("current > 0A", true), ("current > -0.001A", false), ("voltage > -5V", true),
        ("voltage > 1000000000000", true), ("voltage > 1000000000001", false), ("voltage > -1000000000001", false),
        ("voltage > 5V hysteresis 0", true), ("voltage > 5V hysteresis -0.1", false),
        ("voltage > 5V for 24h", true), ("voltage > 5V for 86401s", false), ("voltage > 5V for 0s", true),
        ("stale for 1s", true), ("stale for 999ms", false), ("voltage > 5V for 999ms", true),
        ("voltage rate > 2/s hysteresis 1/min", false), ("voltage > 5 hysteresis 1/s", false),
        ("voltage > 5V V", false), ("voltage > 5 for 2 for", false), ("voltage > 5 hysteresis 1 hysteresis 1", false),
        ("voltage > 5 V 2", false), ("stale for 2 m m", false), ("state is not not offline", false),
        ("voltage rate > 2 s", false), ("voltage rate > 2/", false), ("rate > 2", false), ("voltage > = = 5", false),
    ])
    func limits_areExact(text: String, isLegal: Bool) {
        #expect(((try? AlertParser.pattern(text, isStored: true)) != nil) == isLegal)
    }

    /// What is legal where something else stands is said, as far as it is still legal there.
    @Test func trailingWord_isToldWhatMayStandThere() {
        for (text, next) in [
            ("voltage > 5V xyzzy", "after it: nothing, for 2m, or hysteresis 10mA"),
            ("voltage > 5V for 2m xyzzy", "after it: nothing, or hysteresis 10mA"),
            ("voltage > 5V for 2m hystersis 1", "did you mean hysteresis?"),
            ("voltage > 5V fr 2m", "did you mean for?"),
            ("voltage > 5V for 2m fr", "after it: nothing, or hysteresis 10mA"),
            ("price > 5 x", "after it: nothing, for 2m, or hysteresis 10mA"), ("price > 5x", "price has no unit"),
        ] {
            let error = #expect(throws: AlertSyntaxError.self) { try AlertParser.pattern(text) }
            #expect(error?.next == next, "\(text)")
        }
    }

    @Test func longestText_isRead() throws {
        let text = "stale" + String(repeating: " ", count: 195)
        #expect(text.count == AlertParser.textMax)
        #expect(try AlertParser.pattern(text).text == "stale")
        #expect(throws: AlertSyntaxError.self) { try AlertParser.pattern(text + " ") }
    }

    @Test func longText_isRefused() {
        #expect(throws: AlertSyntaxError.self) { try AlertParser.pattern(String(repeating: "x", count: 201)) }
    }

    /// Bytes never trap, and what is read reads back as the same.
    @Test func anyBytes_areSafe() throws {
        let seed = UInt64.random(in: .min ... .max)
        var rng = SplitMix64(seed: seed)
        let words = [
            "current", "voltage", "temperature", "rate", "<", ">", "above", "below", "for", "2m", "50mA", "5", "V", "/",
            "min", "s", "stale", "state", "is", "not", "offline", "holder", "changes", "hysteresis", "-", "1e400", "٣",
            "0x10", "nan", "inf", "\u{202E}", "🦆", "99999999999999999999", ".", "..", "+", "-5", "=", "°C",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...9, using: &rng)
            let text: String
            if Bool.random(using: &rng) {
                text = (0..<count).compactMap { _ in words.randomElement(using: &rng) }
                    .joined(separator: Bool.random(using: &rng) ? " " : "")
            } else {
                text = String(
                    decoding: (0..<count * 3).map { _ in UInt8.random(in: .min ... .max, using: &rng) }, as: UTF8.self)
            }
            guard let found = try? AlertParser.pattern(text) else { continue }
            #expect(try AlertParser.pattern(found.text) == found, "seed \(seed): \(text)")
        }
    }
}

extension AlertCondition {
    /// As `==`, but for the last bits of what units were multiplied by.
    fileprivate func isNear(_ other: AlertCondition) -> Bool {
        guard case .level(let quantity, let comparison, let limit) = self,
            case .level(let otherQuantity, let otherComparison, let otherLimit) = other
        else { return self == other }
        return quantity == otherQuantity && comparison == otherComparison
            && (limit - otherLimit).magnitude <= 1e-12 * limit.magnitude
    }
}
