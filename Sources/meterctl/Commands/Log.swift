import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the events of a meter: its holders, states, settings and commands.",
        discussion: """
            Shows events from all hosts of the cloud that share the meter's log, oldest first. meterd keeps the log \
            for 90 days. For logs that a meter recorded itself, use meterctl logs.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Option(help: "Omit events that ended before this time: 2h (ago), 14:03, 2026-11-21 or 2026-11-21T13:40:05Z.")
    var since: MomentArgument?
    @Option(help: "Maximum number of lines. The newest lines are shown.")
    var limit = 200
    @Flag(help: "Show only events of this host, without asking other hosts.")
    var own = false
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit takes a number from 1 to 10000") }
    }

    func run() async throws {
        let query = "?limit=\(limit)\(own ? "&own=true" : "")\(since.map { "&\($0.query(times.text))" } ?? "")"
        let body: LogBody = try await daemon.client.call(.get, meterPath(meter, "/log") + query, patience: .seconds(30))
        if try json.print(body) { return }
        if body.log.isEmpty {
            Terminal.talk("no events are known")
        } else {
            LogText.table(body.log, times.text).print()
        }
        for line in LogText.closing(body) { Terminal.talk(line) }
    }
}
