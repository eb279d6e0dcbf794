package import Domain
package import GatewayAPI
package import MeterCodec

/// What a person sees who asks for all settings of a meter: each with its default, and where its value comes from.
extension MeterSettings {
    /// The settings that a meter has, in a fixed order, then those that only a newer version knows.
    ///
    /// - Parameters:
    ///   - texts: what is set, as people type it.
    ///   - authors: who wrote each setting last.
    ///   - own: this host.
    ///   - profile: the model's abilities; nil if unknown, and then every setting is listed.
    ///   - deviceName: what the meter calls itself, if it does.
    package static func bodies(
        _ texts: [String: String], by authors: [String: SettingAuthor], own: HostID, for profile: MeterProfile?,
        deviceName: String? = nil
    ) -> [SettingBody] {
        let settings = MeterSettings(stored: texts)
        let keys = profile.map { Self.keys(for: $0) } ?? Key.allCases
        let known = keys.map { key in
            var body = SettingBody(key.rawValue)
            body.default = key == .name ? deviceName : settings.defaultText(of: key, for: profile)
            body.legal = key.legal(for: profile)
            body.values = key.values(for: profile)
            body.command = key.command?.rawValue
            return body
        }
        let others = texts.keys.filter { text in !keys.contains { $0.rawValue == text } }.sorted()
        return (known + others.map { SettingBody($0) }).map { body in
            var body = body
            body.value = texts[body.key]
            guard let author = authors[body.key] else { return body }
            (body.at, body.host, body.host_id) = (author.at.description, author.hostName, author.host?.description)
            if body.value != nil { body.origin = author.host == own ? .here : .elsewhere }
            return body
        }
    }

    /// What holds without a value, as people would type it.
    private func defaultText(of key: Key, for profile: MeterProfile?) -> String? {
        let rules = RecordingRules()
        return switch key {
        case .name, .notes, .screenTimeout, .brightness, .threshold, .recordAbove, .tariff: nil
        case .pollInterval: if case .poll(let interval, _)? = profile?.rhythm { interval.shortText } else { nil }
        case .rate: "off"
        case .staleAfter: profile.map { MeterTimes($0, withoutStaleAfter, isFar: false).staleAfter.shortText }
        case .temperatureUnit: "C"
        case .filter: "on"
        case .recordHold: rules.hold.shortText
        case .recordGap: rules.gapMax.shortText
        }
    }

    private var withoutStaleAfter: Self {
        var copy = self
        copy.staleAfter = nil
        return copy
    }
}

extension MeterSettings.Key {
    /// The legal values of a model, in words.
    fileprivate func legal(for profile: MeterProfile?) -> String {
        if self == .rate, let profile { return profile.rateWords }
        guard let rule = rule(of: profile), let numbers = rule.numbers else { return legal }
        let steps = rule.step > 1 ? " in steps of \(rule.step)" : ""
        return "a whole number from \(numbers.lowerBound) to \(numbers.upperBound)\(steps)"
    }

    /// All of them, where they are few enough to choose from.
    fileprivate func values(for profile: MeterProfile?) -> [String]? {
        if self == .temperatureUnit { return ["C", "F"] }
        if self == .filter { return ["on", "off"] }
        if self == .rate { return profile.map { ["off"] + $0.rates.map(String.init) } }
        guard let rule = rule(of: profile), let numbers = rule.numbers, numbers.count / rule.step <= 40 else {
            return nil
        }
        return stride(from: numbers.lowerBound, through: numbers.upperBound, by: rule.step).map { "\($0)" }
    }

    private func rule(of profile: MeterProfile?) -> MeterProfile.CommandRule? {
        command.flatMap { kind in profile?.commands.first { $0.kind == kind } }
    }
}
