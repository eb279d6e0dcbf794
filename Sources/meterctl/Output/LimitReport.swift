import Domain
import GatewayAPI
import LinuxIO
import ProgramKit

struct LimitReport {
    /// The user's name for the meter or the recording.
    let subject: String
    let stretch: MeasuredStretch
    let results: [(limit: Limit, verdict: LimitVerdict)]
    /// The measured program and how it ended; nil if there was none.
    let program: (command: [String], end: ForegroundProgram.End)?

    init(
        _ subject: String, _ stretch: MeasuredStretch, _ limits: [Limit], allowedGaps: Double,
        program: (command: [String], end: ForegroundProgram.End)? = nil
    ) {
        self.subject = subject
        self.stretch = stretch
        results = Array(zip(limits, stretch.judge(limits, allowedGaps: allowedGaps)))
        self.program = program
    }

    private var programFailed: Bool { program.map { $0.end != .exited(0) } ?? false }

    /// Exit status. A broken limit takes precedence over a failed program, and a failed program over an undecided
    /// limit.
    var status: ExitStatus {
        if results.contains(where: { $0.verdict.kind == .broken }) { return .limitBroken }
        if programFailed { return .programFailed }
        return results.allSatisfy { $0.verdict.kind == .kept } ? .ok : .undecided
    }

    // MARK: For people

    var table: Table {
        var table = Table(["LIMIT", "MEASURED", "VERDICT"], wrapsLast: true)
        for (limit, verdict) in results {
            let (words, colour) = Self.words(for: verdict)
            table.add([
                .init(limit.text), .init(Self.value(verdict.value, of: limit), isWhole: true), .init(words, colour),
            ])
        }
        return table
    }

    var summary: String {
        let measured = "\(stretch.count) readings in \(Formatting.span(milliseconds: stretch.length))"
        guard let program, programFailed else { return measured }
        return "\(measured); \(program.command[0]) \(Self.words(for: program.end))"
    }

    private static func words(for verdict: LimitVerdict) -> (String, Terminal.Colour?) {
        switch verdict.kind {
        case .kept: ("kept", .green)
        case .broken: ("broken", .red)
        case .undecided(let reason): ("undecided: \(reason)", .yellow)
        }
    }

    static func words(for end: ForegroundProgram.End) -> String {
        switch end {
        case .exited(let status): "ended with \(status)"
        case .killedBySignal(let number): "was ended by signal \(number)"
        }
    }

    /// Formats a value in the unit of the typed limit, with four significant digits.
    private static func value(_ value: Double?, of limit: Limit) -> String {
        guard let value = value.map({ $0 / limit.typedFactor }) else { return "–" }
        var (digits, rest) = (limit.measure == .count ? 0 : 3, value.magnitude)
        while rest >= 10, digits > 0 { (rest, digits) = (rest / 10, digits - 1) }
        while rest > 0, rest < 1, digits < 9 { (rest, digits) = (rest * 10, digits + 1) }
        // Add digits until the value visibly differs from its limit.
        let bound = limit.bound / limit.typedFactor
        while value != bound, digits < 9,
            Formatting.decimal(value, digits: digits) == Formatting.decimal(bound, digits: digits)
        { digits += 1 }
        let number = Formatting.decimal(value, digits: digits)
        let unit = limit.typedUnit ?? limit.unit
        return unit.isEmpty ? number : "\(number) \(unit)"
    }

    // MARK: For programs

    struct Body: Encodable {
        struct Result: Encodable {
            var limit: String
            /// `kept`, `broken` or `undecided`.
            var verdict: String
            @NullCodable var value: Double?
            var bound: Double
            @NullCodable var unit: String?
            @NullCodable var reason: String?
        }

        struct Program: Encodable {
            var command: [String]
            @NullCodable var status: Int32?
            @NullCodable var signal: Int32?
        }

        var subject: String
        var verdict: String
        var readings: Int
        var lost_readings: Int
        var duration_ms: Int64
        var gap_ms: Int64
        var limits: [Result]
        var program: Program?
    }

    var body: Body {
        let results = results.map { limit, verdict in
            var result = Body.Result(limit: limit.text, verdict: "kept", bound: limit.bound)
            result.value = verdict.value
            result.unit = limit.unit.isEmpty ? nil : limit.unit
            switch verdict.kind {
            case .kept: break
            case .broken: result.verdict = "broken"
            case .undecided(let reason): (result.verdict, result.reason) = ("undecided", reason)
            }
            return result
        }
        let verdict = ["broken", "undecided"].first { verdict in results.contains { $0.verdict == verdict } }
        var body = Body(
            subject: subject, verdict: verdict ?? "kept", readings: stretch.count, lost_readings: stretch.lost,
            duration_ms: stretch.length, gap_ms: stretch.gaps, limits: results)
        if let program {
            var told = Body.Program(command: program.command)
            switch program.end {
            case .exited(let status): told.status = status
            case .killedBySignal(let number): told.signal = number
            }
            body.program = told
        }
        return body
    }

    /// JUnit XML with a test case for each limit. An undecided limit is an error, because CI servers accept a skipped
    /// test case.
    var junit: String {
        let time = Formatting.decimal(Double(stretch.length) / 1000, digits: 3)
        var cases: [String] = []
        func add(_ name: String, _ problem: String?) {
            let start =
                "    <testcase classname=\"\(subject.visible.xmlEscaped)\" name=\"\(name.visible.xmlEscaped)\" time=\"\(time)\""
            cases.append(problem.map { "\(start)>\($0)</testcase>" } ?? "\(start)/>")
        }
        for (limit, verdict) in results {
            let value = Self.value(verdict.value, of: limit).xmlEscaped
            switch verdict.kind {
            case .kept: add(limit.text, nil)
            case .broken: add(limit.text, "<failure message=\"measured: \(value)\"/>")
            case .undecided(let reason): add(limit.text, "<error message=\"undecided: \(reason.xmlEscaped)\"/>")
            }
        }
        if let program {
            let words = Self.words(for: program.end).xmlEscaped
            add(program.command.joined(separator: " "), programFailed ? "<failure message=\"\(words)\"/>" : nil)
        }
        let failures = results.count { $0.verdict.kind == .broken } + (programFailed ? 1 : 0)
        let errors = results.count { if case .undecided = $0.verdict.kind { true } else { false } }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
              <testsuite name="meterctl assert" tests="\(cases.count)" failures="\(failures)" errors="\(errors)" time="\(time)">
            \(cases.joined(separator: "\n"))
              </testsuite>
            </testsuites>
            """
    }

    static func junit(_ failure: CommandFailure) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="meterctl assert" tests="1" failures="0" errors="1">
            <testcase classname="meterctl" name="assert"><error message="\(failure.message.visible.xmlEscaped)"/></testcase>
          </testsuite>
        </testsuites>
        """
    }
}
