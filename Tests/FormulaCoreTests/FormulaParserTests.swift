import Domain
import Testing

struct FormulaParserTests {
    /// Each formula with its operands, their values, and what comes out.
    @Test(
        arguments: [
            ("charger.power - laptop.power", ["charger.power", "laptop.power"], [5, 3.5], 1.5, .power),
            ("bench.voltage * 1.0023 + 0.004", ["bench.voltage"], [5], 5.0155, .voltage),
            ("laptop.power / charger.power", ["laptop.power", "charger.power"], [3, 4], 0.75, .ratio),
            ("a.power/b.power*100 - 1e0", ["a.power", "b.power"], [3, 4], 74, .ratio),
            ("a.power/b.power + b.power/a.power", ["a.power", "b.power"], [1, 2], 2.5, .ratio),
            (
                #""Desk charger".current+"01:23:45:67:89:AB".current"#,
                ["Desk charger.current", "01:23:45:67:89:AB.current"], [1, 2], 3, .current
            ),
            ("a-b.energy-c_2.energy", ["a-b.energy", "c_2.energy"], [1, 2], -1, .energy),
            ("  0.5 - x.temperature*-2/ 4 ", ["x.temperature"], [20], 10.5, .temperature),
            ("Öl.vdd", ["Öl.vdd"], [3.3], 3.3, .supplyVoltage),
            ("x.voltage - x.voltage * 1.0", ["x.voltage"], [0.1], 0, .voltage),
            ("x.current * 0.1 + x.current * 0.2", ["x.current"], [1], 0.3, .current),
        ] as [(String, [String], [Double], Double, Quantity)])
    func formula_isReadAndComputed(
        text: String, operands: [String], values: [Double], result: Double, quantity: Quantity
    ) throws {
        let formula = try FormulaParser.formula(text)
        #expect(formula.operands.map { "\($0.meter).\($0.quantity.word)" } == operands)
        #expect(formula.quantity == quantity)
        #expect(formula.result { values[$0] } == result)
        #expect(formula.result { _ in nil } == nil)
    }

    @Test(arguments: [
        ("", 1, "the end names no meter"), ("   ", 4, "the end names no meter"), ("1 + 2", 1, "names no meter"),
        ("charger", 8, "no quantity follows \"charger\""), ("charger.", 9, "\"\" is not a quantity of a formula"),
        ("charger.powr", 9, "\"powr\" is not a quantity"), ("charger.price", 9, "\"price\" is not a quantity"),
        ("charger.counted_energy", 9, "\"counted_energy\" is not a quantity"),
        ("a.power + b.voltage", 11, "power and voltage cannot be added"),
        ("a.power / b.power + c.power", 21, "ratio and power cannot be added"),
        ("a.power / b.current", 1, "power cannot be divided by current"),
        ("a.power / b.power / c.power", 21, "divides by two meters"),
        ("a.voltage * b.current", 13, "\"b.current\" is not a number"),
        ("2 * a.power", 3, "\"* a.power\" follows a number"), ("a.power / 0", 11, "divides by 0"),
        ("(a.power)", 1, "\"(a.power)\" names no meter"), ("a.power ) ", 9, "\") \" does not belong there"),
        ("a.power +", 10, "the end names no meter"), ("-a.power", 1, "\"-a.power\" names no meter"),
        ("2nd.power", 1, "\"2nd.power\" is not a number"), ("a.power * 0x10", 11, "\"0x10\" is not a number"),
        ("a.power * 1e10", 11, "is not a number up to 1e9"), ("a.power * 1..2", 11, "\"1..2\" is not a number"),
        ("\"a.power", 1, "not closed"), ("\"\".power", 1, "empty"),
        (String(repeating: " ", count: 400), 301, "too long"),
        ((1...9).map { "m\($0).power" }.joined(separator: "+"), 76, "more than 8 quantities"),
    ])
    func whatIsNoFormula_isRefused_withItsPlace(text: String, place: Int, words: String) {
        let error = #expect(throws: FormulaError.self) { try FormulaParser.formula(text) }
        #expect(error?.place == place)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.next.isEmpty == false)
    }

    /// Nothing is better than a number that is wrong.
    @Test(
        arguments: [
            ("a.power / b.power", [1, 0], nil), ("a.power * 1e9", [1.1, 0], nil), ("a.power * 1e9", [1, 0], 1e9),
            ("a.power / b.power", [1e9, 1e-300], nil), ("a.power - 1", [.infinity, 0], nil),
            ("a.power", [.nan, 0], nil),
            ("a.power * 1e9 * 1e9", [1e300, 0], nil), ("a.power * -1", [0, 0], 0),
        ] as [(String, [Double], Double?)])
    func result_isUnknown_beyondWhatIsSensible(text: String, values: [Double], result: Double?) throws {
        let found = try FormulaParser.formula(text).result { values[$0] }
        #expect(found == result)
        #expect(found?.sign != .minus)
    }

    /// Any text ends in a formula, or in an error within it.
    @Test func anyText_isAFormulaOrAnError() {
        let seed = UInt64.random(in: .min ... .max)
        var rng = SplitMix64(seed: seed)
        let words = [
            "a", "bench", ".", "power", "voltage", "+", "-", "*", "/", "1", "0.5", "1e400", "\"", " ", "a.power",
            "\"x y\".current", "٣", "\u{202E}", "🦆", "(", "e", "-5", "nan.power", "\u{301}",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &rng)).compactMap { _ in words.randomElement(using: &rng) }
                .joined()
            do throws(FormulaError) {
                let formula = try FormulaParser.formula(text)
                let result = formula.result { Double($0) - 1 }
                #expect(result.map { $0.magnitude <= 1e9 } ?? true, "seed \(seed): \(text)")
            } catch {
                #expect((1...text.count + 1).contains(error.place), "seed \(seed): \(text)")
            }
        }
    }
}
