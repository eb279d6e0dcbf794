package import Domain
package import GatewayAPI
package import MeterCodec

extension MeterSettings {
    /// Lists a meter's settings in a fixed order, then settings of newer versions.
    ///
    /// - Parameter profile: the model's abilities; nil if unknown, which lists every setting.
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
    fileprivate func legal(for profile: MeterProfile?) -> String {
        if self == .rate, let profile { return profile.rateWords }
        guard let rule = rule(of: profile), let numbers = rule.numbers else { return legal }
        let steps = rule.step > 1 ? " in steps of \(rule.step)" : ""
        return "a whole number from \(numbers.lowerBound) to \(numbers.upperBound)\(steps)"
    }

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
