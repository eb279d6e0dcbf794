import Domain
import Gateway
import GatewayAPI
import LinuxIO
import Logging
import MeterStore
import Notifications

extension InfluxService {
    /// Returns nil if no time series database is configured.
    static func make(
        _ configuration: Configuration.Influx, folder: String, hostName: String, store: MeterStore,
        recorder: SampleRecorder, directory: MeterDirectory, loop: IOLoop, logger: Logger
    ) -> InfluxService? {
        guard let target = configuration.target else { return nil }
        var settings = SendMachine.Settings()
        (settings.interval, settings.backFill) = (configuration.interval, configuration.backFill)
        var logger = logger
        logger[metadataKey: "server"] = "\(target.address)"
        return InfluxService(
            settings, measurement: configuration.measurement, hostName: hostName,
            Dependencies(
                series: SeriesService(repository: store, recorder: recorder, wallNow: { LinuxClock.wallNow }),
                stored: store, present: { recorder.meters.used }, tags: { await directory.tags(of: $0) },
                sink: InfluxWriter(target),
                journal: InfluxJournal(path: "\(folder)/influx.json", target: target.identity), loop: loop),
            logger: logger)
    }
}

/// Stores the time up to which measurements were sent, in a file beside the meters' store.
struct InfluxJournal: SendJournal {
    let path: String
    /// Identity of the destination. Stored times for another destination are ignored.
    let target: String

    private struct Content: Codable {
        var target: String
        /// Time up to which measurements were sent, in milliseconds since 1970, by meter id.
        var sent: [String: Int64]
    }

    private var file: OwnersFile<Content> { OwnersFile(path: path, subject: "up to when readings were sent") }

    func load() throws -> [MeterID: WallTime] {
        let content = try file.read(next: "remove it: what was sent lately is sent again, which changes nothing") { $0 }
        guard let content, content.target == target else { return [:] }
        var positions: [MeterID: WallTime] = [:]
        for (text, time) in content.sent {
            if let meter = MeterID(text) { positions[meter] = WallTime(millisecondsSince1970: time) }
        }
        return positions
    }

    func save(_ positions: [MeterID: WallTime]) throws {
        var content = Content(target: target, sent: [:])
        for (meter, time) in positions { content.sent[meter.description] = time.millisecondsSince1970 }
        try file.write(
            content, problem: "up to when readings were sent cannot be written to \(path)",
            next: "it is tried again")
    }
}

extension InfluxStatus {
    init(_ state: SendMachine, at target: InfluxTarget) {
        self.init(url: "\(target.address)")
        (sent, rejected, behind) = (state.sent, state.rejected, state.isBehind)
        (error, next, rejection) = (state.trouble?.cause, state.trouble?.next, state.rejection)
        taken = state.takenAt?.description
    }
}
