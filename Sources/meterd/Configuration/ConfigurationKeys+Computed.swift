import Domain
import MeterCodec

/// Keys of a `[meter.NAME]`.
struct ComputedKeys: Sendable {
    var formula: Formula?
    /// The meter's name for people.
    var name: String?
}

extension ConfigurationKeys {
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
