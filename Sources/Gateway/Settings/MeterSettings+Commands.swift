package import GatewayAPI
package import MeterCodec
package import MeterModel

/// Settings that are sent to the meter itself, as far as its model has them.
extension MeterSettings {
    /// The commands that set the meter to these settings, in a fixed order. What the model does not know is left out:
    /// the settings may come from another host that did not know the meter's model.
    package func commands(for profile: MeterProfile) -> [MeterCommand] {
        Key.allCases.compactMap(\.command).compactMap { kind in
            guard let number = numbers[kind], let rule = profile.commands.first(where: { $0.kind == kind }),
                rule.allows(number)
            else { return nil }
            return MeterCommand(kind, number)
        }
    }

    /// The commands of a model, as the API lists them. None of an unknown one.
    package static func commandBodies(for profile: MeterProfile?) -> [CommandBody] {
        (profile?.commands ?? []).map { rule in
            let key = Key.allCases.first { $0.command == rule.kind }
            return CommandBody(
                rule.kind, numbers: rule.numbers, step: rule.step, setting: key?.rawValue,
                confirmed: rule.isReadBack)
        }
    }

    /// The settings that a model has, in the order in which they are listed.
    package static func keys(for profile: MeterProfile) -> [Key] {
        Key.allCases.filter { key in
            key.command.map { kind in profile.commands.contains { $0.kind == kind } } ?? true
        }
    }

    /// Checks the value just applied against what the model can do.
    func check(_ key: Key, _ value: String, for profile: MeterProfile) throws(GatewayError) {
        guard let kind = key.command, let number = numbers[kind] else { return }
        guard let rule = profile.commands.first(where: { $0.kind == kind }), let legal = rule.numbers else {
            let keys = Self.keys(for: profile).map(\.rawValue).joined(separator: ", ")
            throw GatewayError(
                .badRequest, "a \(profile.model.displayName) has no \(key.rawValue)", next: "its settings are \(keys)")
        }
        guard rule.allows(number) else {
            let steps = rule.step > 1 ? " in steps of \(rule.step)" : ""
            throw GatewayError(
                .badRequest, "\(key.rawValue) cannot be \"\(value)\"",
                next: "it takes a whole number from \(legal.lowerBound) to \(legal.upperBound)\(steps)")
        }
    }
}
