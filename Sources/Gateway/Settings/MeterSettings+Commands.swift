package import Domain
package import GatewayAPI
package import MeterCodec

extension MeterSettings {
    /// Returns the commands that apply these settings, in a fixed order. Skips settings unknown to the model, which
    /// another host may have written.
    package func commands(for profile: MeterProfile) -> [MeterCommand] {
        Key.allCases.compactMap(\.command).compactMap { kind in
            guard let number = numbers[kind], let rule = profile.commands.first(where: { $0.kind == kind }),
                rule.allows(number)
            else { return nil }
            return MeterCommand(kind, number)
        }
    }

    /// Lists a model's commands for the API; empty for an unknown model.
    package static func commandBodies(for profile: MeterProfile?) -> [CommandBody] {
        (profile?.commands ?? []).map { rule in
            let key = Key.allCases.first { $0.command == rule.kind }
            return CommandBody(
                rule.kind, numbers: rule.numbers, step: rule.step, setting: key?.rawValue,
                confirmed: rule.isReadBack)
        }
    }

    package static func keys(for profile: MeterProfile) -> [Key] {
        Key.allCases.filter { key in
            guard key != .rate else { return !profile.rates.isEmpty }
            guard key != .filter else { return profile.filters }
            return key.command.map { kind in profile.commands.contains { $0.kind == kind } } ?? true
        }
    }

    func check(_ key: Key, _ value: String, for profile: MeterProfile) throws(GatewayError) {
        if key == .rate { return try checkRate(value, for: profile) }
        if key == .filter, !profile.filters { throw Self.missing(key, of: profile) }
        guard let kind = key.command, let number = numbers[kind] else { return }
        guard let rule = profile.commands.first(where: { $0.kind == kind }), let legal = rule.numbers else {
            throw Self.missing(key, of: profile)
        }
        guard rule.allows(number) else {
            let steps = rule.step > 1 ? " in steps of \(rule.step)" : ""
            throw GatewayError(
                .badRequest, "\(key.rawValue) cannot be \"\(value)\"",
                next: "it takes a whole number from \(legal.lowerBound) to \(legal.upperBound)\(steps)")
        }
    }

    private func checkRate(_ value: String, for profile: MeterProfile) throws(GatewayError) {
        guard !profile.rates.isEmpty else { throw Self.missing(.rate, of: profile) }
        guard let rate, rate == 0 || profile.rates.contains(rate) else {
            throw GatewayError(.badRequest, "rate cannot be \"\(value)\"", next: "it takes \(profile.rateWords)")
        }
    }

    private static func missing(_ key: Key, of profile: MeterProfile) -> GatewayError {
        let keys = keys(for: profile).map(\.rawValue).joined(separator: ", ")
        return GatewayError(
            .badRequest, "a \(profile.model.displayName) has no \(key.rawValue)", next: "its settings are \(keys)")
    }

    /// Returns the samples per second to request from a meter; nil for no request.
    func rate(for profile: MeterProfile) -> Int? {
        rate.flatMap { profile.rates.contains($0) ? $0 : nil }
    }
}

extension MeterProfile {
    var rateWords: String {
        rates.isEmpty ? "off" : "off or samples a second: \(rates.map(String.init).joined(separator: ", "))"
    }
}
