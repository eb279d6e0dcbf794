import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Profiler: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Show the power of meters in the Firefox Profiler: in each new profile, or for a past period.",
        discussion: """
            meterctl profiler bench prints a URL for Firefox. With this URL, Firefox adds the meter's power to each \
            profile that it captures with the Power preset.

            meterctl profiler bench phone --from 14:00 --to 15:00 prints a link that shows this hour. --between uses \
            the marks of the first meter.

            Anyone who knows such a URL can read the power of these meters without a login. The command needs \
            profiler = true below [web] in meterd.toml: see Docs/Web.md.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "Meters to show, each in its own track.", completion: .meters) var meters: [String] = []
    @OptionGroup var when: SpanOptions
    @Option(
        name: .customLong("for"),
        help: "Time for which the URL is valid, such as 8h. Default: until meterd restarts.")
    var duration: TimeArgument?
    @Flag(help: "Delete all URLs that meterctl profiler created.") var end = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        guard meters.isEmpty == end, duration == nil || !(when.isGiven || end), !(when.isGiven && end) else {
            throw CommandFailure(
                .usage, "name meters, and perhaps --for or a stretch of time; or give --end alone",
                next: "meterctl profiler --help has examples")
        }
        guard !end else {
            let status: WebStatus = try await daemon.client.call(.delete, "/v1/profiler")
            if try !json.print(status) { Terminal.talk("All URLs for the Firefox Profiler are deleted.") }
            return
        }
        let span = when.isGiven ? try await when.span(of: meters[0], daemon.client) : nil
        let request = ProfilerRequest(
            meters: meters, from: span?.lowerBound.description, to: span?.upperBound.description,
            for_ms: duration?.duration.milliseconds)
        let body: ProfilerBody = try await daemon.client.call(.post, "/v1/profiler", body: request)
        if try json.print(body) { return }
        Terminal.line(body.viewer ?? body.url)
        let ends = body.ends.map { "until \(when.times.text.text($0))" } ?? "until meterd restarts"
        Terminal.talk(
            body.viewer == nil
                ? "Set devtools.performance.recording.power.external-url to it in about:config of Firefox. It is good \(ends)."
                : "Open it in Firefox or Chrome on this machine, \(ends).")
    }
}
