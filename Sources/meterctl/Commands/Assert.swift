import ArgumentParser
import Domain
import GatewayAPI
import LinuxIO
import ProgramKit
import Synchronization

struct Assert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a meter's readings against limits, with an exit code for scripts and CI.",
        discussion: """
            meterctl assert charger 'mean(current) < 15 mA' 'max(power) < 2 W' --for 60s

            meterctl assert charger 'energy < 0.1 Wh' -- ./run-my-test

            meterctl assert --recording phone 'duration < 2 h'

            A limit has three parts: a measure, a comparison, and a number with its unit. Measures are mean, min, max, \
            median, p99, stddev and peak-to-peak of a quantity; energy, charge, duration and count; or a share of the \
            time, 'voltage > 4.75 V for 99.9 %'. The sign of current and power is ignored.

            A limit is undecided if there is a gap, a lost reading, or too few readings. A gap is longer than five \
            times the usual interval between two readings, and longer than a second.

            The exit code is the first of these that applies: 8 if a limit is broken, 10 if the program after -- \
            failed, 9 if a limit is undecided, 0 if all limits are met. meterctl assert does not take a lease. With \
            --for or a program, it measures any meter that this host shows. With --from, --between or --recording, it \
            uses readings stored on this host.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(
        help: ArgumentHelp(
            "METER, then limits, each in quotes. With --recording: limits only.", valueName: "meter-and-limits"),
        completion: .meters)
    var words: [String]
    @Option(name: .customLong("for"), help: "Duration of the measurement, starting now, such as 60s.")
    var duration: TimeArgument?
    @Option(help: "Check this recording: its id, the beginning of its id, or its name.", completion: .recordings)
    var recording: String?
    @Option(help: "Share of missing time or lost readings above which a limit is undecided, such as 2%. Default: 0%.")
    var allowGaps: ShareArgument?
    @Option(help: "Write a JUnit file for CI servers, with a test case for each limit.", completion: .file())
    var junit: String?
    @OptionGroup var when: SpanOptions
    @OptionGroup var json: JSONOption
    @OptionGroup var command: ProgramOption

    func validate() throws {
        let ways = [duration != nil, when.isGiven, recording != nil, !command.program.isEmpty].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "What is to be measured? --for 60s, --from 2h, --recording NAME, or a program after --."
                    : "--for, --from with --to or --between, --recording and a program exclude each other.")
        }
        guard junit != "-" || !json.isOn else { throw ValidationError("--junit - and --json would both be on stdout.") }
        guard words.count > (recording == nil ? 1 : 0) else {
            throw ValidationError("A limit is missing, in quotes: 'mean(current) < 15 mA'.")
        }
    }

    func run() async throws {
        let limits = try self.limits()
        // Open the file first: an unwritable path must fail before the measurement.
        let file = try junit.map { try OutputFile(path: $0) }
        do {
            let (report, failure) = try await measure(limits)
            if json.isOn {
                _ = try json.print(report.body)
            } else {
                report.table.print()
                Terminal.talk(report.summary)
            }
            let isTold = report.status == .limitBroken || report.status == .programFailed
            if let failure, !isTold { throw failure }
            try file?.write(report.junit)
            if report.status != .ok { Terminal.exit(report.status) }
        } catch let failure as CommandFailure {
            // Write even a failure; otherwise a CI server would use the report of an earlier run.
            try file?.write(LimitReport.junit(failure))
            throw failure
        }
    }

    private func measure(_ limits: [Limit]) async throws -> (LimitReport, CommandFailure?) {
        if let recording {
            let stretch = try await stored(recording: recording, limits)
            return (LimitReport(recording, stretch, limits, allowedGaps: allowedGaps), nil)
        }
        guard when.isGiven else { return try await live(words[0], limits) }
        let span = try await when.span(of: words[0], daemon.client)
        guard span.upperBound <= LinuxClock.wallNow else {
            throw CommandFailure(
                .usage, "\(when.times.text.text(span.upperBound)) is in the future", next: "leave --to out")
        }
        let stretch = try await stored(words[0], span, limits)
        return (LimitReport(words[0], stretch, limits, allowedGaps: allowedGaps), nil)
    }

    private var allowedGaps: Double { allowGaps?.share ?? 0 }

    private func limits() throws -> [Limit] {
        try words.dropFirst(recording == nil ? 1 : 0).map { text in
            do throws(AlertSyntaxError) {
                return try LimitParser.limit(text)
            } catch {
                throw CommandFailure(.usage, "\"\(text.visible)\": \(error.message)", next: error.next)
            }
        }
    }

    // MARK: What is stored

    private func stored(recording: String, _ limits: [Limit]) async throws -> MeasuredStretch {
        let body: RecordingBody = try await daemon.client.call(.get, RecordingArgument.path(of: recording))
        try RecordingText.requireMine(body)
        guard body.state == "ended", let start = WallTime(body.started), let end = WallTime(body.until) else {
            throw CommandFailure(
                .error, "\(recording) is \(body.state)", next: "meterctl record stop \(body.meter.shellWord) ends it")
        }
        let (from, to) = (start.millisecondsSince1970, end.millisecondsSince1970)
        // Imported measurements have no summaries: they belong only to their recording, not to the meter.
        let isMeasured = body.imported == nil
        let summaries = isMeasured ? try await summaries(of: body.meter, from, to.addingClamped(1)) : []
        let path = "/v1/recordings/\(body.id.percentEncoded)/readings"
        var stretch = try await stretch(of: path, from, to, summaries, limits)
        // Do not compute the duration from times, because the host's system clock may have been set.
        stretch.duration = body.duration_ms
        return stretch
    }

    private func stored(_ meter: String, _ span: Range<WallTime>, _ limits: [Limit]) async throws -> MeasuredStretch {
        let (from, to) = (span.lowerBound.millisecondsSince1970, span.upperBound.millisecondsSince1970)
        let summaries = try await summaries(of: meter, from, to)
        let path = try meterPath(meter, "/export?from=\(from)&to=\(to)&format=json")
        return try await stretch(of: path, from, to, summaries, limits)
    }

    /// Returns one summary for each day. A summary of a longer period would count aggregated points instead of
    /// measurements.
    private func summaries(of meter: String, _ from: Int64, _ to: Int64) async throws -> [StretchBody] {
        var bodies: [StretchBody] = []
        for start in stride(from: from, to: to, by: 86_400_000) {
            let end = min(to, start + 86_400_000)
            bodies.append(
                try await daemon.client.call(
                    .get, meterPath(meter, "/stretch?from=\(start)&to=\(end)"), patience: .seconds(300)))
        }
        return bodies
    }

    private func stretch(
        of path: String, _ from: Int64, _ to: Int64, _ summaries: [StretchBody], _ limits: [Limit]
    ) async throws -> MeasuredStretch {
        let state = Mutex(MeasuredStretch(for: limits))
        try await daemon.client.eachLine(path, as: ReadingLine.self) { line in
            try state.withLock { stretch in
                guard !stretch.isFull else { throw Self.tooMany }
                stretch.add(line)
            }
        }
        var stretch = state.withLock { $0 }
        (stretch.start, stretch.end) = (from, to)
        stretch.resolution = summaries.map(\.resolution_ms).max() ?? 0
        guard stretch.resolution > 0 else { return stretch }
        for summary in summaries {
            for quantity in Quantity.allCases {
                guard let spread = summary.quantities[quantity.key] else { continue }
                stretch.addExtremes(spread.least...max(spread.least, spread.greatest), of: quantity)
            }
        }
        return stretch
    }

    private static let tooMany = CommandFailure(
        .error, "there are more than \(MeasuredStretch.readingsMax) readings", next: "judge a shorter stretch")

    // MARK: What is measured now

    private static let patience = Duration.seconds(30)

    private func live(_ meter: String, _ limits: [Limit]) async throws -> (LimitReport, CommandFailure?) {
        let client = daemon.client
        let path = try meterPath(meter, "/readings?all=true")
        let measured = Mutex(LiveStretch(for: limits))
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (command, duration, toErrors) = (command.program, duration?.duration, json.isOn)
        let end = try await withThrowingTaskGroup(of: ForegroundProgram.End?.self) { group in
            group.addTask { @Sendable in
                do {
                    try await client.lines(path, as: ReadingLine.self) { line in
                        try measured.withLock { stretch in
                            guard !stretch.readings.isFull else { throw Self.tooMany }
                            stretch.take(line, at: LinuxClock.now)
                        }
                        arrival.yield()
                    }
                } catch let failure as CommandFailure where !command.isEmpty {
                    guard measured.withLock({ $0.cut(by: failure) }) else { throw failure }
                    // The measured program continues, because its result counts too.
                    failure.tell()
                    try await Task.sleep(for: .seconds(365 * 86_400))
                    return nil
                }
            }
            group.addTask { @Sendable in
                try await withTimeLimit(Self.patience) { for await _ in arrivals { return } }
                guard measured.withLock({ $0.begin(at: LinuxClock.now) }) else {
                    let status: MeterStatus = try await client.call(.get, meterPath(meter))
                    let words = Formatting.noData(status, called: meter)
                    throw CommandFailure(
                        .timedOut, "no reading of \(meter) came within \(Self.patience.shortText)",
                        next: words ?? "meterctl status \(meter.shellWord) says why")
                }
                let end = try await Self.pass(duration, command, toErrors: toErrors)
                measured.withLock { $0.finish(at: LinuxClock.now) }
                // Wait for measurements from another host, which may still be on their way.
                try await withTimeLimit(.seconds(2)) {
                    for await _ in arrivals where measured.withLock({ $0.isComplete }) { return }
                }
                return end
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        let (readings, failure) = measured.withLock { ($0.readings, $0.failure) }
        let report = LimitReport(
            meter, readings, limits, allowedGaps: allowedGaps, program: end.map { (command, $0) })
        return (report, failure)
    }

    private static func pass(
        _ duration: Duration?, _ command: [String], toErrors: Bool
    ) async throws -> ForegroundProgram.End? {
        if let duration {
            try await Task.sleep(for: duration)
            return nil
        }
        return try await ForegroundProgram.run(command, toErrors: toErrors)
    }
}

/// The meter's measurements received since `begin`.
struct LiveStretch {
    private(set) var readings: MeasuredStretch
    /// Time of the last measurement by its host's clock, in milliseconds since 1970, and time of its arrival here.
    private var last: (time: Int64, arrived: MonotonicTime)?
    private var begun: (time: Int64, at: MonotonicTime)?
    private(set) var failure: CommandFailure?

    init(for limits: [Limit]) { readings = MeasuredStretch(for: limits) }

    mutating func take(_ line: ReadingLine, at now: MonotonicTime) {
        guard let time = WallTime(line.time)?.millisecondsSince1970 else { return }
        last = (time, now)
        guard let begun, begun.time <= time else { return }
        guard readings.end.map({ time <= $0 }) ?? true else { return readings.lose(line.missed ?? 0) }
        readings.add(line)
    }

    mutating func begin(at now: MonotonicTime) -> Bool {
        guard let last else { return false }
        let start = last.time.addingClamped((now - last.arrived).milliseconds)
        readings.start = start
        begun = (start, now)
        return true
    }

    /// Ends the measurement. Uses the monotonic clock, because the system clock may have been set meanwhile.
    mutating func finish(at now: MonotonicTime) {
        guard let begun else { return }
        readings.end = begun.time.addingClamped((now - begun.at).milliseconds)
    }

    var isComplete: Bool { readings.end.flatMap { end in last.map { end <= $0.time } } ?? false }

    /// Records the failure that ended the measurement early, and counts one reading as lost. Returns false if the
    /// measurement has not begun.
    mutating func cut(by failure: CommandFailure) -> Bool {
        guard begun != nil else { return false }
        readings.lose(1)
        self.failure = failure
        return true
    }
}

extension MeasuredStretch {
    /// Adds a measurement. A line with an invalid time counts as lost.
    mutating func add(_ line: ReadingLine) {
        lose(line.missed ?? 0)
        guard let time = WallTime(line.time) else { return lose(1) }
        // The host may have averaged several measurements into one line: count all but one as lost.
        if let count = line.count, count > 1 { lose(count - 1) }
        add(line.values.reading, at: time.millisecondsSince1970)
    }
}

/// A percentage: `2%`, `0.5 %`.
struct ShareArgument: ExpressibleByArgument {
    var share: Double

    init?(argument: String) {
        guard argument.hasSuffix("%"), let number = Double(argument.dropLast().filter { $0 != " " }),
            (0...100).contains(number)
        else { return nil }
        share = number / 100
    }
}
