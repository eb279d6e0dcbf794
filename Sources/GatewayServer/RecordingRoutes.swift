import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Recordings: `/v1/meters/{meter}/recording` starts and ends one, `/v1/recordings` lists all.
package struct RecordingRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let zone: ZoneMeters
    private let recordings: RecordingService
    private let series: SeriesService
    private let marks: MarkService?
    private let alerts: AlertService?
    private let loads: LoadService?

    /// - Parameters:
    ///   - zone: nil for a host without a cloud.
    ///   - marks: nil to export no marks.
    ///   - alerts: nil without notification targets.
    ///   - loads: nil if battery tests cannot control loads.
    package init(
        directory: MeterDirectory, zone: ZoneMeters? = nil, recordings: RecordingService, series: SeriesService,
        marks: MarkService? = nil, alerts: AlertService? = nil, loads: LoadService? = nil
    ) {
        self.directory = directory
        self.zone = zone ?? ZoneMeters(directory: directory)
        self.recordings = recordings
        self.series = series
        self.marks = marks
        self.alerts = alerts
        self.loads = loads
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.post("meters/:meter/recording") { request, context in
            let body = try await JSON.decode(RecordingRequest.self, from: request)
            let reference = try MeterRoutes.reference(in: context)
            if let test = try test(body) { return try await start(test, name: body.name, on: reference) }
            // The lease holder records, because this host does not store other hosts' readings.
            if let done = try await zone.order(.startRecording(name: body.name), of: reference) {
                return try JSON.response(try Self.body(done))
            }
            let meter = try await directory.session(reference).id
            let action = RelayAction.startRecording(name: body.name)
            let recording = try await directory.log.logging("\(action)", of: meter, by: .person) {
                () throws(GatewayError) in
                try await recordings.start(meter, name: body.name)
            }
            return try JSON.response(RecordingBody(try await recordings.recording(recording.id.recordName)))
        }
        api.delete("meters/:meter/recording") { _, context in
            let reference = try MeterRoutes.reference(in: context)
            if let done = try await zone.order(.stopRecording, of: reference) {
                return try JSON.response(try Self.body(done))
            }
            let meter = try await directory.session(reference).id
            let recording = try await directory.log.logging(
                "\(RelayAction.stopRecording)", of: meter, by: .person
            ) { () throws(GatewayError) in try await recordings.stop(meter) }
            if recording.test?.load != nil { await loads?.testWasStopped(meter) }
            return try JSON.response(RecordingBody(try await recordings.entry(of: recording)))
        }
        api.get("recordings") { request, _ in
            var meter: MeterID?
            if let reference = request.uri.queryParameters["meter"] {
                meter = try await directory.meter(String(reference))
            }
            let all = try await recordings.recordings(of: meter)
            return try JSON.response(RecordingsBody(recordings: all.map { RecordingBody($0) }))
        }
        api.get("recordings/:recording") { _, context in
            try JSON.response(
                RecordingBody(try await recordings.recording(try MeterRoutes.reference("recording", in: context))))
        }
        api.patch("recordings/:recording") { request, context in
            let body = try await JSON.decode(RecordingTextRequest.self, from: request)
            let reference = try MeterRoutes.reference("recording", in: context)
            return try JSON.response(
                RecordingBody(try await recordings.describe(reference, name: body.name, note: body.note)))
        }
        api.delete("recordings/:recording") { _, context in
            let reference = try MeterRoutes.reference("recording", in: context)
            return try JSON.response(RecordingBody(try await recordings.delete(reference)))
        }
        api.get("recordings/:recording/readings") { request, context in
            let reference = try MeterRoutes.reference("recording", in: context)
            let format: ExportTable.Format = try request.choice("format") ?? .json
            guard format == .csv else { return try await readings(of: reference, for: request) }
            let (meter, span, recording) = try await local(reference)
            return try await table(of: meter, in: span, try await marks(of: recording, in: span), for: request)
        }
        api.get("recordings/:recording/series") { request, context in
            let (meter, span, _) = try await local(try MeterRoutes.reference("recording", in: context))
            return try JSON.response(try await series.body(for: request, of: meter, in: span))
        }
    }

    // MARK: Battery tests

    /// Returns nil for a recording without a battery test.
    private func test(_ body: RecordingRequest) throws(GatewayError) -> BatteryTest? {
        let load = try body.load.map { request throws(GatewayError) in try plan(request, body) }
        guard let until = body.until ?? load?.until else {
            guard body.start_above == nil, body.notify == nil else {
                throw GatewayError(
                    .badRequest, "start_above and notify are of a battery test, which has a cut-off",
                    next: "give until, \(BatteryTest.legal)")
            }
            return nil
        }
        var settings = MeterSettings()
        if let text = body.start_above {
            do {
                try settings.apply(.recordAbove, text)
            } catch {
                throw GatewayError(
                    .badRequest, "\"\(text.prefix(40).visible)\" is not a current that starts a test", next: error.next)
            }
        }
        let notify = body.notify ?? []
        if let alerts {
            try alerts.check(notify: notify)
        } else if !notify.isEmpty {
            throw GatewayError(.refused, "this host has no notification targets", next: "leave notify out")
        }
        do throws(AlertSyntaxError) {
            return try BatteryTest(until: until, startAbove: settings.recordAbove, notify: notify, load: load)
        } catch {
            throw GatewayError(.badRequest, "\"\(until.prefix(80).visible)\": \(error.message)", next: error.next)
        }
    }

    private func plan(_ request: LoadRequest, _ body: RecordingRequest) throws(GatewayError) -> LoadPlan {
        guard loads != nil else { throw GatewayError(.refused, "this host drives no loads", next: "leave load out") }
        guard body.start_above == nil else {
            throw GatewayError(
                .badRequest, "a test with a load begins when that is switched on, at once",
                next: "leave start_above out")
        }
        do throws(LoadPlan.Problem) {
            return try LoadPlan(
                current: request.current, cutoff: request.cutoff, limit: request.limit, onLinkLoss: request.on_link_loss
            )
        } catch {
            throw GatewayError(.badRequest, error.message, next: error.next)
        }
    }

    /// Starts a battery test. This host must hold the meter, because a test needs its readings and notification
    /// targets.
    private func start(_ test: BatteryTest, name: String?, on reference: String) async throws -> Response {
        if let holder = try await zone.status(of: reference).holderElsewhere {
            throw GatewayError(
                .held, "\(holder) has \(reference.visible), and a battery test is run by the host that measures",
                next: "start it there, or connect the meter here first")
        }
        let meter = try await directory.session(reference).id
        let recording = try await directory.log.logging(
            "battery-test start \"\(test.until.text)\"" + (test.load.map { " --load, \($0.plan.words)" } ?? ""),
            of: meter,
            by: .person
        ) { () throws(GatewayError) in
            guard let loads else { return try await recordings.start(meter, name: name, test: test) }
            return try await loads.start(meter, name: name, test: test)
        }
        return try JSON.response(RecordingBody(try await recordings.recording(recording.id.recordName)))
    }

    private func marks(of recording: Recording, in span: Range<WallTime>) async throws -> [Mark] {
        // Marks refer to the meter's own readings, not to imported ones.
        guard let marks, recording.source == nil else { return [] }
        let entry = try await recordings.entry(of: recording)
        return try await marks.marks(of: directory.ids(of: entry.meter), in: span).map(\.mark)
    }

    private func table(
        of meter: MeterID, in span: Range<WallTime>, _ marks: [Mark], for request: Request
    ) async throws -> Response {
        let column = ExportTable.Column(
            meter: nil, quantities: try await series.quantities(of: meter, in: span), marks: marks)
        let table = ExportTable(format: .csv, columns: [column])
        return try await Response.text(for: request, type: "text/csv") { [series] write in
            var writing = ExportWriting(table: table, series: series)
            try await writing.run([meter], span, every: nil, write)
        }
    }

    /// Sends each line only after the next reading is loaded, because the last line also contains `toldAtEnd`.
    private func readings(of reference: String, for request: Request) async throws -> Response {
        let (meter, span, recording) = try await local(reference)
        let marked = try await marks(of: recording, in: span)
        return try await Response.lines(for: request) { write in
            var line: ReadingLine?
            var isFirst = true
            var marks = marked.isEmpty ? nil : ExportMarks(marked)
            try await series.readings(of: meter, in: span) { sample in
                if let line { try await write(line) }
                line = ReadingLine(time: sample.time.description, values: ReadingBody(sample.reading))
                line?.marks = marks?.names(at: sample.time)
                if isFirst { line?.told = recording.toldAtStart }
                isFirst = false
            }
            guard var line else { return }
            line.told = recording.toldAtEnd ?? line.told
            try await write(line)
        }
    }

    private static func body(_ done: (holder: String, result: String?)) throws(GatewayError) -> RecordingBody {
        guard var body = done.result.flatMap({ JSON.value(RecordingBody.self, in: $0) }) else {
            throw GatewayError(
                .internalError, "\(done.holder) did it, but its answer cannot be read here",
                next: "meterctl recordings shows it; are both hosts of one version?")
        }
        body.mine = false
        body.host = done.holder
        return body
    }

    /// Returns the id under which this host stores a recording's readings, and the span from the first to the last
    /// reading.
    private func local(_ reference: String) async throws -> (MeterID, Range<WallTime>, Recording) {
        let entry = try await recordings.recording(reference)
        let recording = entry.recording
        guard entry.isMine else {
            throw GatewayError(
                .refused, "the readings of \(recording.id.short) are on \(entry.hostName ?? "the host that made it")",
                next: "ask that host; here only its sums are known")
        }
        let start = recording.started
        return (entry.stretch, start..<max(start, recording.until) + .milliseconds(1), recording)
    }
}

extension RecordingBody {
    init(_ entry: RecordingEntry) {
        let (recording, totals) = (entry.recording, entry.recording.totals)
        self.init(
            id: recording.id.short, meter: entry.meter.description, host_id: recording.id.host.description,
            mine: entry.isMine,
            state: recording.end == nil ? (recording.isWaiting ? "waiting" : "running") : "ended",
            trigger: recording.trigger.rawValue, started: recording.started.description,
            until: recording.until.description)
        note = recording.note
        test = recording.test.map { BatteryTestBody($0) }
        imported = recording.source
        (told_at_start, told_at_end) = (recording.toldAtStart, recording.toldAtEnd)
        (name, host, end) = (recording.name, entry.hostName, recording.end?.rawValue)
        duration_ms = totals.duration.milliseconds
        recorded_ms = totals.recorded.milliseconds
        readings = totals.readings
        charge_mAh = totals.charge_mAh
        energy_Wh = totals.energy_Wh
        cost = CostBody(of: totals.energy_Wh, at: entry.tariff)
        meter_charge_mAh = totals.charge.total
        meter_energy_Wh = totals.energy.total
        voltage_V = Range(totals.voltage)
        current_A = Range(totals.current)
        power_W = Range(totals.power)
        temperature_C = Range(totals.temperature)
        gap_ms = totals.gapTime.milliseconds
        gap_count = totals.gapCount
        gaps = totals.gaps.map { gap in
            Gap(start: gap.start.description, duration_ms: gap.length.milliseconds, cause: gap.cause.rawValue)
        }
        marks = recording.marks.map(\.rawValue)
        overlaps = entry.overlaps.map(\.short)
    }
}

extension BatteryTestBody {
    fileprivate init(_ test: BatteryTest) {
        self.init(until: test.until.text, notify: test.notify, armed: test.isArmed)
        (start_above_A, value) = (test.startAbove, test.value)
        quantity = test.until.condition.quantity?.key
        load = test.load.map { LoadBody($0) }
    }
}

extension LoadBody {
    fileprivate init(_ standing: LoadSnapshot) {
        let plan = standing.plan
        self.init(
            current_A: Double(plan.current) / 1000, cutoff_V: Double(plan.cutoff) / 1000,
            limit_ms: plan.minutes > 0 ? Int64(plan.minutes) * 60_000 : nil, on_link_loss: plan.onLinkLoss.rawValue,
            state: standing.phase.rawValue)
        problem = standing.problem
    }
}

extension RecordingBody.Range {
    fileprivate init?(_ value: IntegratedValue) {
        guard let least = value.least, let greatest = value.greatest, let mean = value.mean else { return nil }
        self.init(min: least, max: greatest, mean: mean)
    }
}
