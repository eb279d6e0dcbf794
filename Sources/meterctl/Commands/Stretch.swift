import ArgumentParser
import Domain
import GatewayAPI
import LinuxIO
import ProgramKit

struct SpanOptions: ParsableArguments {
    @Option(help: "Start time: 2h (ago), 14:30 or \"2026-11-21 14:30\". Default: an hour before the end.")
    var from: MomentArgument?
    @Option(help: "End time, in the same form as --from. Default: now.")
    var to: MomentArgument?
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Use the period between two marks, or the period of one span. Give a mark as NAME, NAME#2 (the second "
                + "of that name) or an id. Put --between last on the command line.",
            valueName: "mark"))
    var between: [String] = []
    @OptionGroup var times: TimeOptions

    var isGiven: Bool { from != nil || to != nil || !between.isEmpty }

    func validate() throws {
        if between.count > 2 { throw ValidationError("--between takes one span or two marks, and comes last.") }
        if !between.isEmpty, from != nil || to != nil {
            throw ValidationError("--between and --from with --to exclude each other.")
        }
    }

    func span(of meter: String, _ client: ControlClient) async throws -> Range<WallTime> {
        let now = LinuxClock.wallNow
        guard between.isEmpty else {
            let body: MarksBody = try await client.call(.get, meterPath(meter, "/marks"))
            return try MarkChoice(body.marks, of: meter).span(between: between, now)
        }
        let end = to?.time(before: now, times.text) ?? now
        let start = from?.time(before: now, times.text) ?? end + .seconds(-3600)
        guard start < end else {
            throw CommandFailure(
                .usage, "from \(times.text.text(start)) to \(times.text.text(end)) is not a stretch of time",
                next: "--from comes before --to")
        }
        return start..<end
    }
}

struct Stretch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show statistics over a stretch of time: charge, energy, and the distribution of each quantity.",
        discussion:
            "Uses readings that this host stored. To make a recording of them, use meterctl record keep."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @OptionGroup var when: SpanOptions
    @OptionGroup var json: JSONOption

    func run() async throws {
        let span = try await when.span(of: meter, daemon.client)
        let path = try meterPath(
            meter,
            "/stretch?from=\(span.lowerBound.millisecondsSince1970)&to=\(span.upperBound.millisecondsSince1970)")
        let body: StretchBody = try await daemon.client.call(.get, path, patience: .seconds(300))
        if try json.print(body) { return }
        guard body.readings > 0 else { return Terminal.talk("no readings of this time are stored here") }
        Self.sums(body, when.times.text).print()
        Self.spreads(body).print()
    }

    static func sums(_ body: StretchBody, _ times: TimeText) -> Table {
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String?) { if let value { table.add([.init(field), .init(value)]) } }
        add("from", body.from.map { times.text($0) })
        add("to", body.to.map { times.text($0) })
        add("duration", Formatting.age(milliseconds: body.duration_ms))
        add("readings", "\(body.readings)")
        if body.resolution_ms > 0 { add("means of", Duration.milliseconds(body.resolution_ms).shortText) }
        if body.gap_count > 0 {
            add("gaps", "\(body.gap_count), \(Formatting.age(milliseconds: body.gap_ms)) in all")
        }
        add("charge", body.charge_mAh.map { Formatting.quantity(.charge, $0) })
        add("energy", body.energy_Wh.map { Formatting.quantity(.energy, $0) })
        add("cost", body.cost.map { RecordingText.words(for: $0) })
        add("charge by the meter", body.meter_charge_mAh.map { Formatting.quantity(.charge, $0) })
        add("energy by the meter", body.meter_energy_Wh.map { Formatting.quantity(.energy, $0) })
        return table
    }

    static func spreads(_ body: StretchBody) -> Table {
        var table = Table(["QUANTITY", "MEAN", "MIN", "5 %", "MEDIAN", "95 %", "MAX"])
        for quantity in Quantity.allCases {
            guard let spread = body.quantities[quantity.key] else { continue }
            let values = [spread.mean, spread.least, spread.p5, spread.p50, spread.p95, spread.greatest]
            table.add([.init(quantity.key)] + values.map { .init(Formatting.quantity(quantity, $0)) })
        }
        return table
    }
}

extension Record {
    struct Keep: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a recording of a past stretch of time.",
            discussion:
                "Uses this host's stored readings: meterctl record keep charger --from 3h --to 1h --name phone")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: .meter, completion: .meters) var meter: String
        @OptionGroup var when: SpanOptions
        @Option(help: "Name of the recording.")
        var name: String?
        @OptionGroup var json: JSONOption

        func run() async throws {
            let span = try await when.span(of: meter, daemon.client)
            let recording: RecordingBody = try await daemon.client.call(
                .post, meterPath(meter, "/recordings"),
                body: StretchRecordingRequest(
                    from: span.lowerBound.description, to: span.upperBound.description, name: name),
                patience: .seconds(300))
            if try json.print(recording) { return }
            RecordingText.table(recording, when.times.text).print()
        }
    }
}
