import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change settings of a meter.",
        discussion: """
            For example: meterctl set bench name="Bench meter" poll-interval=1s. An empty value resets a setting to \
            its default.

            Every host of the cloud stores the setting. meterd sends a setting of the meter itself, such as \
            brightness, at each connect. To send it only once, use meterctl command.
            """
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "One or more settings with their new values: key=value …", completion: .settingChanges)
    var changes: [String]
    @OptionGroup var json: JSONOption

    func run() async throws {
        var settings: [String: String?] = [:]
        for change in changes {
            let parts = change.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandFailure(
                    .usage, "\"\(change)\" is not of the form key=value", next: "for example name=Bench")
            }
            settings[String(parts[0])] = .some(parts[1].isEmpty ? nil : String(parts[1]))
        }
        let body: SettingsBody = try await daemon.client.call(
            .patch, meterPath(meter, "/settings"), body: SettingsRequest(settings: settings))
        try printSettings(body.settings, json)
        if body.stays_here == true {
            Terminal.talk("this host may only look, so this stays here until it joins the cloud with another token")
        }
        if !json.isOn {
            for line in Self.onceInstead(of: settings, on: meter, body.once ?? [:]) { Terminal.talk(line) }
        }
    }

    /// Returns hints about commands that apply a setting's value once, without storing it.
    static func onceInstead(
        of changes: [String: String?], on meter: String, _ commands: [String: String]
    ) -> [String] {
        commands.sorted { $0.key < $1.key }.compactMap { setting, command in
            guard case .some(.some(let value)) = changes[setting] else { return nil }
            return "\(setting) is kept, and sent at each connect: meterctl command \(meter.shellWord) \(command) "
                + "\(value) does it once"
        }
    }
}

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show each setting of a meter with its value, its default, its author and the time of the change.",
        discussion: "With --json, or for one setting, default values are omitted.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Argument(help: "Print only the value of this setting.", completion: .settingKeys)
    var key: String?
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption

    func run() async throws {
        let body: SettingsBody = try await daemon.client.call(.get, meterPath(meter, "/settings"))
        guard let key else {
            guard !json.isOn, let details = body.details else { return try printSettings(body.settings, json) }
            return Self.table(details, times.text).print()
        }
        let value = try Self.value(of: key, in: body)
        if try json.print(value) { return }
        if let value { return Terminal.line(value, linesKept: true) }
        let standard = body.details?.first { $0.key == key }?.default
        Terminal.talk("\(key) is not set\(standard.map { "; its default is \($0)" } ?? "")")
    }

    static func table(_ settings: [SettingBody], _ times: TimeText) -> Table {
        var table = Table(["SETTING", "VALUE", "DEFAULT", "SET BY", "WHEN"])
        for setting in settings {
            let isSet = setting.value != nil
            table.add([
                .init(setting.key, isWhole: true),
                .init(
                    setting.value ?? setting.default ?? "–",
                    isSet ? nil : .dim),
                .init(setting.default ?? "–", .dim), .init(author(of: setting)),
                .init(isSet ? setting.at.map { times.text($0) } ?? "–" : "", isWhole: true),
            ])
        }
        return table
    }

    private static func author(of setting: SettingBody) -> String {
        switch setting.origin {
        case .standard: "default"
        case .here: "this host"
        case .elsewhere: setting.host ?? setting.host_id ?? "another host"
        }
    }

    /// Returns the setting's value; nil if not set. Throws if the daemon's list of settings lacks this one.
    static func value(of key: String, in body: SettingsBody) throws -> String? {
        if let value = body.settings[key] { return value }
        guard let known = body.known, !known.contains(key) else { return nil }
        throw CommandFailure(
            .usage, "no setting is called \(key)",
            next: known.suggestion(for: key, "the settings are \(known.joined(separator: ", "))"))
    }
}

private func printSettings(_ settings: [String: String?], _ json: JSONOption) throws {
    if try json.print(settings) { return }
    if settings.isEmpty { Terminal.talk("nothing is set: everything has its default") }
    for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
        Terminal.line("\(key)=\(value ?? "")")
    }
}
