package import Domain

/// Driver of a load that pushes the reports of an Atorch DC meter and answers queries in the same stream
/// (Docs/Protocols/Atorch.md#loads-the-px100-queries).
///
/// Reports round voltage down to 0.1 V and charge to 10 mAh, so they only confirm answers, and become readings if
/// answers are missing.
package struct DL24Driver: MeterDriver {
    /// A load that answers queries counts single milliwatt-hours. One that does not is treated as a DC meter with steps
    /// of 10 Wh.
    package var profile: MeterProfile { conversation.queries == .silent ? Self.silentProfile : Self.loadProfile }
    private var decoder = AtorchDecoder(from: .load)
    private var conversation = PX100Conversation()
    private var state = DL24State()
    private var breaks = BreakGuard<AtorchSuccession>()
    package var isFiltering = true
    /// Queries with an accepted answer since the last reading.
    private var fresh: Set<PX100Query> = []
    private var reportsSinceReading = 0
    private var readings = 0
    private var keys: AtorchCommand.Keys?
    private var hasTriedOther = false

    /// Number of reports to ignore while answers give no reading. Later reports become readings despite their low
    /// resolution.
    private static let reportsHeldBack = 2
    /// Maximum number of query rounds to delay the first readings until each query has an answer.
    private static let roundsHeldBack = 3
    private static let measured: [PX100Query] = [.voltage, .current, .time, .charge, .energy, .temperature]

    package init() {}

    /// Sends nothing: the first poll sends a query.
    package mutating func opening() -> [Outgoing] {
        let isFiltering = isFiltering
        self = DL24Driver()
        self.isFiltering = isFiltering
        return []
    }

    package mutating func poll() -> [UInt8] {
        // A confirmation arrives immediately or never, so stop waiting for it.
        decoder.awaitsDone = false
        let query = conversation.next()
        decoder.asked = conversation.asked
        return query?.bytes ?? []
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        while let step = decoder.next() {
            switch step {
            case .frame(.other(let content as PX100Answer)): answered(content, handle)
            case .frame(.atorchReport(let report)) where report.type == .dc: pushed(report, handle)
            case .frame(.atorchReply(let reply)):
                if reply.outcome == .unsupported { keys = keys.other }
                handle(reply.event ?? .frame(.atorchReply(reply)))
            case .frame(let frame): handle(.frame(frame))
            case .skipped(let count, let error):
                if error == .unasked { conversation.unaskedCame() }
                handle(.skipped(count: count, because: error))
            }
        }
    }

    /// Whether the load never answers, so that the host's bytes probably do not reach it. False once the caller has
    /// tried another output.
    package var doubtsOutput: Bool { conversation.queries == .silent && !hasTriedOther }

    /// Restarts the queries if the caller has switched to another output.
    package mutating func outputSwitched(_ isSwitched: Bool) -> [UInt8] {
        hasTriedOther = true
        if isSwitched { conversation = PX100Conversation() }
        return []
    }

    private mutating func answered(_ answer: PX100Answer, _ handle: (MeterEvent) -> Void) {
        // Free the line for the next query, even if this answer is rejected.
        handle(.acknowledged)
        guard case .value(let raw, let query) = answer else { return }
        switch conversation.answered(raw) {
        case .doubted: return
        case .dropped: return handle(.filtered(samples: 1))
        case .believed: break
        }
        state.queries = conversation.queries
        state[query] = raw
        fresh.insert(query)
        if let command = query.command(for: raw) { handle(.readBack(command)) }
        if query == .current, fresh.contains(.voltage) { finishRound(handle) }
    }

    private mutating func finishRound(_ handle: (MeterEvent) -> Void) {
        fresh = []
        reportsSinceReading = 0
        readings += 1
        guard readings > Self.roundsHeldBack || Self.measured.allSatisfy({ state[$0] != nil }) else { return }
        handle(.frame(.other(state)))
    }

    private mutating func pushed(_ report: AtorchReport, _ handle: (MeterEvent) -> Void) {
        let wasAnswering = conversation.queries != .silent
        conversation.came(report)
        state.queries = conversation.queries
        state.backlight = report.backlight
        reportsSinceReading += 1
        var reading = report.reading
        if wasAnswering {
            state.price = reading[.price]
            guard reportsSinceReading > Self.reportsHeldBack else { return }
            // Omit the counters: after precise answers, a report's rounded counters would look like a reset.
            reading = Reading()
            for quantity in [Quantity.voltage, .current, .temperature, .duration] {
                reading[quantity] = report.reading[quantity]
            }
        }
        let frame = Frame.other(state.standingIn(reading))
        guard isFiltering, !report.checkMatches else { return handle(.frame(frame)) }
        breaks.take(AtorchSuccession(report), as: frame, handle)
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        guard let order = PX100Order(command) else {
            guard let key = AtorchCommand(command, type: .dc, keys: keys) else {
                throw .unsupportedCommand(command.kind, model: profile.model)
            }
            return key.bytes
        }
        guard conversation.queries == .silent else { return order.bytes }
        switch order {
        // Switching off cannot increase the current, so send it even to a load that does not answer.
        case .isOn(false): return order.bytes
        case .resetCounters: return AtorchCommand(.clearAll, type: .dc).bytes
        case .isOn(true), .current, .cutoff, .timer: throw .unanswering(command.kind)
        }
    }

    package mutating func sent(_ command: MeterCommand) {
        guard let order = PX100Order(command) else { return }
        decoder.awaitsDone = true
        if order == .resetCounters { conversation.expectZero() }
        if let (query, raw) = order.readBack { conversation.expect(query, raw) }
    }

    /// Sends nothing: the user decides when to switch the load off.
    package mutating func closing() -> [Outgoing] { [] }

    /// Discards an overdue answer and counts it as lost. Keeps a partial report.
    package mutating func discardPartial() -> Int {
        conversation.answerLost()
        decoder.asked = nil
        return decoder.discardAnswer()
    }

    /// Profile of a load that answers. A step is 200 ms, because answers took up to 104 ms
    /// (andrewchuev/reslab-dl24-monitor). The pause after an order is half a second, as in
    /// misdoro/Electronic_load_px100. The answer timeout exceeds the reports' one second, so a load without answers
    /// never times out.
    private static let loadProfile = profile(.fine)
    private static let silentProfile = profile(.tens)

    private static func profile(_ steps: CounterSteps) -> MeterProfile {
        var commands = AtorchDriver.profile(of: .dc).commands
        commands += [
            .init(.loadOn, isReadBack: true), .init(.loadOff, isReadBack: true),
            // The DLB-600W, the largest of these loads, takes 40 A. Other loads refuse or limit higher values.
            .init(.loadCurrent, 0...40_000, step: 10, isReadBack: true),
            .init(.loadCutoff, 0...200_000, step: 10, isReadBack: true),
            .init(.loadTimer, 0...1092, isReadBack: true),
        ]
        return MeterProfile(
            model: .dl24, rhythm: .rounds(expected: .seconds(1), step: .milliseconds(200)),
            answerTimeout: .milliseconds(1200), commandSpacing: .milliseconds(500), baudRate: 9600, commands: commands,
            counterSteps: steps, filters: true)
    }
}

extension PX100Query {
    func command(for raw: UInt32) -> MeterCommand? {
        switch self {
        case .isOn: MeterCommand(raw == 1 ? .loadOn : .loadOff)
        case .setCurrent: MeterCommand(.loadCurrent, Int(raw) * 10)
        case .cutoff: MeterCommand(.loadCutoff, Int(raw) * 10)
        case .timer: MeterCommand(.loadTimer, Int(PX100.seconds(raw)) / 60)
        case .voltage, .current, .time, .charge, .energy, .temperature: nil
        }
    }
}
