import ArgumentParser
import GatewayAPI

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

    func run() async throws {
        var settings: [String: String?] = [:]
        for change in changes {
            let parts = change.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandFailure(.usage, "\"\(change)\" is no key=value", next: "for example name=Bench")
            }
            settings[String(parts[0])] = .some(parts[1].isEmpty ? nil : String(parts[1]))
        }
        let body: SettingsBody = try await daemon.client.call(
            .patch, meterPath(meter, "/settings"), body: SettingsBody(settings: settings))
        printSettings(body.settings)
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
        if let key {
            if let value = body.settings[key] ?? nil {
                Terminal.line(value)
            } else {
                Terminal.talk("\(key) is not set")
            }
        } else if json {
            Terminal.line(try JSONOutput.pretty(body.settings))
        } else {
            printSettings(body.settings)
        }
    }
}

private func printSettings(_ settings: [String: String?]) {
    if settings.isEmpty { Terminal.talk("nothing is set: everything has its default") }
    for (key, value) in settings.sorted(by: { $0.key < $1.key }) { Terminal.line("\(key)=\(value ?? "")") }
}
