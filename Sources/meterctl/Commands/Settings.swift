import ArgumentParser
import GatewayAPI
import MeterModel
import ProgramKit

struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change settings of a meter.",
        discussion: "For example: meterctl set bench name=\"Bench meter\" poll-interval=1s. An empty value takes a "
            + "setting back to its default."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument var meter: String
    @Argument(help: "key=value …")
    var changes: [String]
    @Flag(help: "JSON on stdout.")
    var json = false

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
            .patch, meterPath(meter, "/settings"), body: SettingsBody(settings: settings))
        try printSettings(body.settings, json: json)
        await sayWhereItStays()
    }

    /// Other hosts do not hear of it from one that may only look.
    private func sayWhereItStays() async {
        // The setting is in force, whatever the answer.
        let cloud: CloudStatus? = try? await daemon.client.call(.get, "/v1/cloud")
        guard cloud?.role == HostRole.readOnly.rawValue else { return }
        Terminal.talk("this host may only look, so this stays here until it joins the cloud with another token")
    }
}

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Settings of a meter.")

    @OptionGroup var daemon: DaemonOptions
    @Argument var meter: String
    @Argument(help: "One setting, its value alone.")
    var key: String?
    @Flag(help: "JSON on stdout.")
    var json = false

    func run() async throws {
        let body: SettingsBody = try await daemon.client.call(.get, meterPath(meter, "/settings"))
        guard let key else { return try printSettings(body.settings, json: json) }
        let value = try Self.value(of: key, in: body)
        if json { return Terminal.exact(try JSONOutput.pretty(value)) }
        if let value { Terminal.line(value, linesKept: true) } else { Terminal.talk("\(key) is not set") }
    }

    /// Nil if not set. The daemon says which settings exist.
    static func value(of key: String, in body: SettingsBody) throws -> String? {
        if let value = body.settings[key] { return value }
        guard let known = body.known, !known.contains(key) else { return nil }
        throw CommandFailure(
            .usage, "no setting is called \(key)", next: "the settings are \(known.joined(separator: ", "))")
    }
}

private func printSettings(_ settings: [String: String?], json: Bool) throws {
    if json { return Terminal.exact(try JSONOutput.pretty(settings)) }
    if settings.isEmpty { Terminal.talk("nothing is set: everything has its default") }
    for (key, value) in settings.sorted(by: { $0.key < $1.key }) { Terminal.line("\(key)=\(value ?? "")") }
}
