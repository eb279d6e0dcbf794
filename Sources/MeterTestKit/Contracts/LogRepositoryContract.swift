import Domain
package import Gateway

/// Contract of `LogRepository`, whose lines with unconfirmed dates (`BelievedDate.Doubt`) do not expire. Each clause
/// needs an empty repository that was opened with a boot id.
package enum LogRepositoryContract {
    package typealias Subject = any LogRepository & RetentionRepository
    package typealias Clause = ContractClause<Subject>

    private static let one = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))
    private static let two = MeterID.usb(vendor: 0x2E3C, product: 0x0049, serial: "0042")
    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)

    package static var clauses: [Clause] {
        [
            Clause("log_isEmpty_atFirst") { repository in
                try ContractViolation.requireEqual(try await repository.lastLogNumber(), 0, "the last number")
                try await require([], of: [one], in: repository)
            },
            Clause("line_comesBackWhole_whateverItTells") { repository in
                let lines = Array(every.enumerated()).map { line(Int64($0.offset) + 1, event: $0.element, count: 3) }
                try await repository.keepLog(lines, countMax: 100)
                try await require(lines, of: [one], in: repository)
            },
            Clause("line_isReplaced_whenKeptAgain") { repository in
                try await repository.keepLog([line(1), line(2)], countMax: 100)
                try await repository.keepLog([line(1, count: 500)], countMax: 100)
                try await require([line(1, count: 500), line(2)], of: [one], in: repository)
                try ContractViolation.requireEqual(try await repository.lastLogNumber(), 2, "the last number")
            },
            Clause("log_isOfTheMetersAskedFor_newestFirstToGo") { repository in
                try await repository.keepLog([line(1), line(2, of: two), line(3), line(4)], countMax: 100)
                try await require([line(1), line(3), line(4)], of: [one], in: repository)
                try await require([line(1), line(2, of: two), line(3), line(4)], of: [one, two], in: repository)
                let newest = try await repository.log(of: [one, two], limit: 2)
                try ContractViolation.requireEqual(newest, [line(3), line(4)], "the newest two")
            },
            Clause("keepLog_boundsEachMeter") { repository in
                try await repository.keepLog([line(1, of: two)] + (2..<10).map { line($0) }, countMax: 3)
                try await require([line(7), line(8), line(9)], of: [one], in: repository)
                try await require([line(1, of: two)], of: [two], in: repository)
            },
            Clause("keepLog_refusesAnIdThatDoesNotReadBack_andKeepsNoneOfThem") { repository in
                let bad = line(2, of: .port(host: "", path: ""))
                try await ContractViolation.requireThrow("an id that does not read back") {
                    try await repository.keepLog([line(1), bad], countMax: 100)
                }
                try await require([], of: [one], in: repository)
            },
            Clause("holdingsThatGoOn_areEnded_andNoOthers", endsHoldings),
            Clause("pruneLog_takesWhatEndedBefore_butNotWhatGoesOn", prunes),
            Clause("pruneLog_sparesDoubtedDates", sparesDoubts),
            Clause("deleteLog_takesOneMeters") { repository in
                try await repository.keepLog([line(1), line(2, of: two)], countMax: 100)
                try await repository.deleteLog(of: one)
                try await require([line(2, of: two)], of: [one, two], in: repository)
            },
            Clause("line_isKept_whenTheTaskIsCancelled") { repository in
                try await inCancelledTask { try await repository.keepLog([line(1)], countMax: 100) }
                try await require([line(1)], of: [one], in: repository)
            },
        ]
    }

    @Sendable private static func endsHoldings(_ repository: Subject) async throws {
        let holdings = [held(.takenOver), held(nil), .state(.offline, cause: "gone")]
        try await repository.keepLog(
            holdings.enumerated().map { line(Int64($0.offset) + 1, event: $0.element) }, countMax: 100)
        try await repository.endHoldings(.stopped)
        let ended = [held(.takenOver), held(.stopped), .state(.offline, cause: "gone")]
        try await require(
            ended.enumerated().map { line(Int64($0.offset) + 1, event: $0.element) }, of: [one], in: repository)
    }

    @Sendable private static func prunes(_ repository: Subject) async throws {
        let lines = [
            line(1, at: 0, until: 5), line(2, event: held(nil), at: 0), line(3, at: 20, until: 0),
            line(4, at: 0, until: 10),
        ]
        try await repository.keepLog(lines, countMax: 100)
        let count = try await repository.pruneLog(before: start + .seconds(10))
        try ContractViolation.requireEqual(count, 1, "deleted")
        try await require(Array(lines.dropFirst()), of: [one], in: repository)
    }

    @Sendable private static func sparesDoubts(_ repository: Subject) async throws {
        let lines = [line(1, at: 0), line(2, at: 100), line(3, at: 200)]
        try await repository.keepLog(lines, countMax: 100)
        let doubt = BelievedDate.Doubt(first: start + .seconds(50), last: start + .seconds(150))
        try await repository.save(BelievedDate(date: start, doubts: [doubt]))
        let count = try await repository.pruneLog(before: start + .seconds(1000))
        try ContractViolation.requireEqual(count, 2, "deleted")
        try await require([lines[1]], of: [one], in: repository)
    }

    // MARK: Lines

    private static func held(_ end: LogHolding.End?) -> LogEvent {
        .held(
            LogHolding(
                token: FencingToken(rawValue: 7), lastToken: FencingToken.max, transport: .ble, end: end))
    }

    private static let every: [LogEvent] = [
        held(nil), .held(LogHolding(token: nil, transport: .usb, end: .unknown)),
        .state(.dataAvailable, cause: "valid frame – \"ü\""), .command("brightness 3", by: .person, outcome: "done"),
        .command("rotate", by: .broker, outcome: "no link"),
        .command("rotate", by: .host(HostID(high: 1, low: 2), name: "beta – ü"), outcome: ""),
        .alert("charged", outcome: "raised"),
        .remedy("discovery is restarted", adapter: MACAddress(bits: 0x0011_2233_4455), cause: "silence"),
    ]

    /// - Parameter time: seconds after `start`, by the wall clock and by the clock since boot.
    private static func line(
        _ number: Int64, of meter: MeterID = one, event: LogEvent = .state(.offline, cause: "device gone"),
        count: Int = 1, at time: Int64 = 1, until last: Int64? = nil
    ) -> StoredLogLine {
        func moment(_ seconds: Int64) -> LogMoment {
            LogMoment(wall: start + .seconds(seconds), sinceBoot: .origin + .seconds(1000 + seconds))
        }
        return StoredLogLine(
            number: number, meter: meter,
            entry: LogEntry(event, first: moment(time), last: moment(last ?? time), count: count))
    }

    private static func require(
        _ expected: [StoredLogLine], of meters: [MeterID], in repository: Subject
    ) async throws {
        try ContractViolation.requireEqual(try await repository.log(of: meters, limit: 1000), expected, "lines")
    }
}
