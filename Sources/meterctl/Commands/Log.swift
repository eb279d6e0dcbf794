import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened to a meter: who had it, its states, settings and commands.",
        discussion: """
            From all hosts of the cloud that share it, the oldest first. meterd keeps it for 90 days. What a meter \
            recorded by itself is another thing: meterctl logs.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(completion: .meters) var meter: String
    @Option(help: "Nothing that ended before: 2h, 14:03, 2026-11-21 or 2026-11-21T13:40:05Z.")
    var since: MomentArgument?
    @Option(help: "At most so many lines, the newest.")
    var limit = 200
    @Flag(help: "Only what this host has; other hosts are not asked.")
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
            Terminal.talk("nothing is known to have happened")
        } else {
            LogText.table(body.log, times.text).print()
        }
        for line in LogText.closing(body) { Terminal.talk(line) }
    }
}
