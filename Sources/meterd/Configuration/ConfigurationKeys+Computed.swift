import Domain
import MeterCodec

/// Keys of a `[meter.NAME]`.
struct ComputedKeys: Sendable {
    var formula: Formula?
    /// The meter's name for people.
    var name: String?
}

extension ConfigurationKeys {
    /// Greatest voltage in millivolts that a meter may supply; nil for none.
    static let meter = ConfigurationTable<Int?>(
        "meter", "All meters.", defaults: nil,
        keys: [
            .init(
                "max-voltage", optional: \.self, .voltage(PPK2Request.voltages), example: #""3.6V""#,
                "Greatest voltage that a meter may be told to supply (PPK2), {range}; none by default.")
        ])

    static let computed = ConfigurationTable(
        "meter", heading: "[meter.losses]",
        "A meter computed from others (Docs/Meters/COMPUTED.md). Up to 32, each under its name.",
        defaults: ComputedKeys(),
        keys: [
            .init(
                "formula", optional: \.formula, .formula, example: #""charger.power - laptop.power""#,
                "Sum, difference, ratio, or gain and offset."),
            .init("name", optional: \.name, .text, example: #""Charging losses""#),
        ])
}

extension Configuration {
    mutating func add(computed name: String, _ table: [String: DescriptionValue]) throws(ConfigurationError) {
        guard (1...32).contains(name.count), name.allSatisfy(\.isOfTargetName) else {
            throw ConfigurationError(
                "[meter.\(name.visible)] cannot be called that",
                next: "a name has 1 to 32 letters, digits, \"-\" and \"_\"")
        }
        var keys = ComputedKeys()
        try ConfigurationKeys.computed.read(table, prefix: "meter.\(name).", into: &keys)
        guard let formula = keys.formula else {
            throw ConfigurationError(
                "[meter.\(name)] has no formula", next: "give it one, for example formula = \"bench.voltage * 1.002\"")
        }
        guard let model = catalogue.models(over: .computed).first else { return }
        formulas[name] = formula
        ports.append(
            Port(declared: DeclaredPort(.computed(name: name), model: model, name: keys.name ?? name), connects: true))
    }

    /// Throws if a formula names a computed meter.
    func checkFormulas() throws(ConfigurationError) {
        guard !formulas.isEmpty else { return }
        let computed = ports.map(\.declared).filter { $0.link.transport == .computed }
        let names = Set(computed.flatMap { [$0.path, $0.name ?? ""] }.map { $0.lowercased() })
        for (name, formula) in formulas.sorted(by: { $0.key < $1.key }) {
            for operand in formula.operands where names.contains(operand.meter.lowercased()) {
                throw ConfigurationError(
                    "meter.\(name).formula names \(operand.meter.quoted), which is computed itself",
                    next: "name the meters that measure")
            }
        }
    }
}

extension ConfigurationType<Int> {
    /// A voltage in millivolts.
    fileprivate static func voltage(_ legal: ClosedRange<Int>) -> Self {
        let text: @Sendable (Int) -> String = { "\(Double($0) / 1000)V" }
        let range = "\(text(legal.lowerBound)) to \(text(legal.upperBound))"
        return .parsed("a voltage from \(range), such as \"3.6V\"", range: range, write: text) { words in
            guard words.hasSuffix("V"), let volts = Double(amount: words.filter { $0 != " " }, unit: "V") else {
                return nil
            }
            let millivolts = (volts * 1000).rounded()
            return Double(legal.lowerBound)...Double(legal.upperBound) ~= millivolts ? Int(millivolts) : nil
        }
    }
}

extension ConfigurationType<Formula> {
    fileprivate static var formula: Self {
        Self(read: { entry throws(ConfigurationError) in
            let text = try entry.text()
            do throws(FormulaError) {
                return try FormulaParser.formula(text)
            } catch {
                throw ConfigurationError(
                    "\(entry.key), character \(error.place): \(error.message)", next: error.next)
            }
        })
    }
}
