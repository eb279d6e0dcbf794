import ArgumentParser
import Domain
import GatewayAPI
import LinuxIO
import ProgramKit
import Synchronization

struct Assert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge what a meter measures by limits, with an exit code for scripts and CI.",
        discussion: """
            meterctl assert charger 'mean(current) < 15 mA' 'max(power) < 2 W' --for 60s

            meterctl assert charger 'energy < 0.1 Wh' -- ./run-my-test

            meterctl assert --recording phone 'duration < 2 h'

            A limit is a function of a quantity, mean, min, max, median, p99, stddev or peak-to-peak; or energy, charge, \
            duration or count; or a share of the time, 'voltage > 4.75 V for 99.9 %'. Numbers have their unit. Current and \
            power count by their size.

            What was not measured is not judged: with a gap or a lost reading, or too few readings, a limit is undecided. A gap \
            is five times the usual time between two readings, and at least a second.

            Exit codes: 8 a limit is broken, 10 the program failed, 9 undecided, 0 otherwise; the first of these that is true. \
            It reads, and takes no lease. --for and a program read any meter that this host shows; a stretch or a recording \
            is judged by what this host has stored.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(
        help: ArgumentHelp(
            "The meter, not with --recording; then limits, each in quotes.", valueName: "meter-and-limits"),
        completion: .meters)
    var words: [String]
    @Option(name: .customLong("for"), help: "Measure from now on for so long: 60s.")
    var duration: TimeArgument?
    @Option(help: "From then on: 2h (ago), 14:30 or \"2026-11-21 14:30\". Of what is stored.")
    var from: MomentArgument?
    @Option(help: "Before then, in the same words. Default: now.")
    var to: MomentArgument?
    @Option(help: "A recording's id in the list, the beginning of it, or its name.", completion: .recordings)
    var recording: String?
    @Option(help: "So much of the time, and of the readings, may be missing: 2%. Default: 0%.")
    var allowGaps: ShareArgument?
    @Option(help: "Write a file for CI servers, a test case for each limit.", completion: .file())
    var junit: String?
    @OptionGroup var times: TimeOptions
    @OptionGroup var json: JSONOption
    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "Last: a program with its arguments, also after --. Judges what is measured while it runs.",
            valueName: "command"))
    var program: [String] = []

    /// The library gives what follows a `--` to the limits.
    static func spelledOut(_ arguments: [String]) -> [String] {
        guard arguments.first == "assert", let end = arguments.firstIndex(of: "--") else { return arguments }
        var arguments = arguments
        arguments[end] = "--program"
        return arguments
    }

    func validate() throws {
        let ways = [duration != nil, from != nil || to != nil, recording != nil, !program.isEmpty].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "What is to be measured? --for 60s, --from 2h, --recording NAME, or a program after --."
                    : "--for, --from with --to, --recording and a program exclude each other.")
        }
        guard words.count > (recording == nil ? 1 : 0) else {
            throw ValidationError("A limit is missing, in quotes: 'mean(current) < 15 mA'.")
        }
    }

    func run() async throws {
        let limits = try self.limits()
        var (subject, report): (String, LimitReport)
        if let recording {
            subject = recording
            report = LimitReport(
                subject, try await stored(recording: recording, limits), limits, allowedGaps: allowedGaps)
        } else if from != nil || to != nil {
            subject = words[0]
            let span = try SpanOptions.span(from, to, times.text)
            report = LimitReport(
                subject, try await stored(subject, span, limits), limits, allowedGaps: allowedGaps)
        } else {
            subject = words[0]
            report = try await live(subject, limits)
        }
        if let junit { try OutputFile(path: junit).write(report.junit) }
        if try !json.print(report.body) {
            report.table.print()
            Terminal.talk(report.summary)
        }
        if report.status != .ok { Terminal.exit(report.status) }
    }

    private var allowedGaps: Double { allowGaps?.share ?? 0 }

    private func limits() throws -> [Limit] {
        try words.dropFirst(recording == nil ? 1 : 0).map { text in
            do throws(LimitSyntaxError) {
                return try LimitParser.limit(text)
            } catch {
                throw CommandFailure(.usage, "\"\(text.visible)\": \(error.message)", next: error.next)
            }
        }
    }

    // MARK: What is stored

    private func stored(recording: String, _ limits: [Limit]) async throws -> MeasuredStretch {
        let body: RecordingBody = try await daemon.client.call(.get, "/v1/recordings/\(recording.percentEncoded)")
        try RecordingText.requireMine(body)
        guard body.state == "ended", let start = WallTime(body.started), let end = WallTime(body.until) else {
            throw CommandFailure(
                .error, "\(recording) is \(body.state)", next: "meterctl record stop \(body.meter.shellWord) ends it")
        }
        let (from, to) = (start.millisecondsSince1970, end.millisecondsSince1970)
        // What was imported belongs to its recording alone, and is never summed up.
        let isMeasured = body.imported == nil
        let summary = isMeasured ? try await summary(of: body.meter, from, to.addingClamped(1)) : nil
        let path = "/v1/recordings/\(body.id.percentEncoded)/readings"
        return try await stretch(of: path, from, to, summary, limits)
    }

    private func stored(_ meter: String, _ span: Range<WallTime>, _ limits: [Limit]) async throws -> MeasuredStretch {
        let (from, to) = (span.lowerBound.millisecondsSince1970, span.upperBound.millisecondsSince1970)
        let summary = try await summary(of: meter, from, to)
        let path = try meterPath(meter, "/export?from=\(from)&to=\(to)&format=json")
        return try await stretch(of: path, from, to, summary, limits)
    }

    private func summary(of meter: String, _ from: Int64, _ to: Int64) async throws -> StretchBody {
        try await daemon.client.call(
            .get, meterPath(meter, "/stretch?from=\(from)&to=\(to)"), patience: .seconds(300))
    }

    /// - Parameter summary: says whether single readings are left, and has the extremes where they are not.
    private func stretch(
        of path: String, _ from: Int64, _ to: Int64, _ summary: StretchBody?, _ limits: [Limit]
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
        guard let summary, summary.resolution_ms > 0 else { return stretch }
        stretch.resolution = summary.resolution_ms
        for quantity in Quantity.allCases {
            guard let spread = summary.quantities[quantity.key] else { continue }
            stretch.setExtremes(spread.least...max(spread.least, spread.greatest), of: quantity)
        }
        return stretch
    }

    private static let tooMany = CommandFailure(
        .error, "there are more than \(MeasuredStretch.readingsMax) readings", next: "judge a shorter stretch")

    // MARK: What is measured now

    /// For the first reading.
    private static let patience = Duration.seconds(30)

    private func live(_ meter: String, _ limits: [Limit]) async throws -> LimitReport {
        let (client, command, duration, toErrors) = (daemon.client, program, duration?.duration, json.isOn)
        let path = try meterPath(meter, "/readings?all=true")
        let measured = Mutex(LiveStretch(for: limits))
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let status: MeterStatus = try await client.call(.get, meterPath(meter))
        let end = try await withThrowingTaskGroup(of: ForegroundProgram.End?.self) { group in
            group.addTask { @Sendable in
                try await client.lines(path, as: ReadingLine.self) { line in
                    try measured.withLock { stretch in
                        guard !stretch.readings.isFull else { throw Self.tooMany }
                        stretch.take(line, at: LinuxClock.now)
                    }
                    arrival.yield()
                }
            }
            group.addTask { @Sendable in
                try await withTimeLimit(Self.patience) { for await _ in arrivals { return } }
                guard measured.withLock({ $0.begin(at: LinuxClock.now) }) else {
                    let words = Formatting.noData(status, called: meter)
                    throw CommandFailure(
                        .timedOut, "no reading of \(meter) came within \(Self.patience.shortText)",
                        next: words ?? "meterctl status \(meter.shellWord) says why")
                }
                defer { measured.withLock { $0.finish(at: LinuxClock.now) } }
                if let duration {
                    try await Task.sleep(for: duration)
                    return nil
                }
                do throws(Errno) {
                    return try await ForegroundProgram.run(command, toErrors: toErrors)
                } catch {
                    throw CommandFailure(
                        .error, "\(command[0]) cannot be started: \(error)", next: "see whether it is there")
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        let readings = measured.withLock { $0.readings }
        return LimitReport(
            meter, readings, limits, allowedGaps: allowedGaps, program: end.map { (program, $0) })
    }
}

/// What comes from now on.
struct LiveStretch {
    private(set) var readings: MeasuredStretch
    /// When the last reading was taken, by the clock of its host, and when it came here.
    private var last: (time: Int64, arrived: MonotonicTime)?
    private var isOn = false

    init(for limits: [Limit]) { readings = MeasuredStretch(for: limits) }

    mutating func take(_ line: ReadingLine, at now: MonotonicTime) {
        guard let time = WallTime(line.time)?.millisecondsSince1970 else { return }
        last = (time, now)
        if isOn { readings.add(line) }
    }

    /// - Returns: false if no reading has come yet.
    mutating func begin(at now: MonotonicTime) -> Bool {
        guard let moment = moment(now) else { return false }
        readings.start = moment
        isOn = true
        return true
    }

    mutating func finish(at now: MonotonicTime) {
        readings.end = moment(now)
        isOn = false
    }

    /// By the clock of the readings' host.
    private func moment(_ now: MonotonicTime) -> Int64? {
        last.map { $0.time.addingClamped((now - $0.arrived).milliseconds) }
    }
}

extension MeasuredStretch {
    /// A line whose time cannot be read counts as lost.
    mutating func add(_ line: ReadingLine) {
        lose(line.missed ?? 0)
        guard let time = WallTime(line.time) else { return lose(1) }
        // Folded by a host that shows less than it measures.
        if let count = line.count, count > 1 { lose(count - 1) }
        add(line.values.reading, at: time.millisecondsSince1970)
    }
}

/// A share as people type it: `2%`, `0.5 %`.
struct ShareArgument: ExpressibleByArgument {
    /// 0 to 1.
    var share: Double

    init?(argument: String) {
        guard argument.hasSuffix("%"), let number = Double(argument.dropLast().filter { $0 != " " }),
            (0...100).contains(number)
        else { return nil }
        share = number / 100
    }
}
