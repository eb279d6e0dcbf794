import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Alert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list, show, remove or test alerts.",
        discussion: """
            A condition is one of these: a value above or below a limit, a value's rate of change, missing readings, a \
            state, or a change of the host that has the meter:

              "current < 50mA for 2m"    "temperature rate > 2°C/min"
              "voltage > 5.5V"           "stale for 30s"
              "power above 10W"          "state is offline for 1m"    "holder changes"

            [notify.NAME] in meterd.toml defines a target for notifications. See Docs/Alerts.md.
            """,
        subcommands: [Add.self, List.self, Show.self, Remove.self, Test.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an alert.",
            discussion: "For example: meterctl alert add bench 'current < 50mA for 2m' --name charged --notify phone")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @Argument(help: "Condition of the alert, in quotes, such as 'power above 10W'.")
        var condition: String
        @Option(help: "Name of the alert.")
        var name: String?
        @Option(help: "Target for notifications: the NAME of a [notify.NAME] in meterd.toml. Repeatable.")
        var notify: [String] = []
        @OptionGroup var json: JSONOption

        func run() async throws {
            guard !meter.isEmpty else {
                throw CommandFailure(.usage, "\"\" names no meter", next: "meterctl status lists the meters")
            }
            let request = AlertRequest(meter: meter, condition: condition, name: name, notify: notify)
            let alert: AlertBody = try await daemon.client.call(.post, "/v1/alerts", body: request)
            if try json.print(alert) { return }
            Terminal.line("\(alert.id)")
            if let verdict = alert.verdict { Terminal.talk("understood: \(verdict)") }
            if alert.notify.isEmpty {
                Terminal.talk("it has no target; meterctl alert list, status and the broker show it")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all alerts and all targets for notifications.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let body: AlertsBody = try await daemon.client.call(.get, "/v1/alerts")
            if try json.print(body) { return }
            if body.alerts.isEmpty {
                Terminal.talk("there is no alert; meterctl alert add METER 'current < 50mA for 2m' adds one")
            } else {
                AlertText.table(body.alerts, times.text).print()
            }
            guard !body.targets.isEmpty else { return }
            Terminal.line("")
            AlertText.table(body.targets).print()
            for target in body.targets {
                if let error = target.error { Terminal.talk("\(target.name): \(error)") }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show an alert, and when it was raised.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var which: AlertArgument
        @OptionGroup var json: JSONOption

        func run() async throws {
            let alert: AlertBody = try await daemon.client.call(.get, which.path())
            if try json.print(alert) { return }
            AlertText.table(alert, times.text).print()
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove an alert.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: AlertArgument
        @OptionGroup var json: JSONOption

        func run() async throws {
            let gone: AlertBody = try await daemon.client.call(.delete, which.path())
            if try json.print(gone) { return }
            Terminal.talk("\(gone.name ?? gone.condition) of \(gone.meter_name ?? gone.meter) is removed")
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test notification to all targets of an alert, and report each result.",
            discussion: "Exit code 1 if a notification failed.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var which: AlertArgument
        @OptionGroup var json: JSONOption

        func run() async throws {
            // The timeout allows for the slowest notification program.
            let body: AlertTestBody = try await daemon.client.call(.post, which.path("/test"), patience: .seconds(330))
            if try !json.print(body) { AlertText.table(body).print() }
            let failed = body.results.filter { !$0.delivered }
            guard let first = failed.first else { return }
            throw CommandFailure(
                .error, "not notified: \(failed.map(\.target).joined(separator: ", "))",
                next: "look at [notify.\(first.target)] in meterd.toml; meterd reads it when it starts")
        }
    }
}

struct AlertArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("Id of the alert, as shown by meterctl alert list, or its name.", valueName: "id"))
    var alert: String

    func path(_ rest: String = "") throws -> String {
        guard !alert.isEmpty else {
            throw CommandFailure(.usage, "\"\" names no alert", next: "meterctl alert list shows them")
        }
        return "/v1/alerts/\(alert.percentEncoded)\(rest)"
    }
}
