enum MeterPayloads {
    /// Returns a reading in JSON; unknown values are null.
    ///
    /// - Parameter countedSince: start of the gateway's energy count; nil without one.
    static func state(_ reading: TimedReading, countedSince: WallTime? = nil, told: TelemetryBody? = nil) -> [UInt8] {
        var members: [JSONValue.Member] = [.init("time", .string(reading.wallTime.description))]
        reading.reading.forEach { quantity, value in
            members.append(.init(quantity.key, value.map { .number($0) } ?? .null))
        }
        if let countedSince { members.append(.init("counted_since", .string(countedSince.description))) }
        if let told { members.append(.init("told", json(told))) }
        return JSONValue.object(members).bytes
    }

    /// Returns telemetry in the format of `meterctl status --json`.
    private static func json(_ told: TelemetryBody) -> JSONValue {
        let details = told.details.sorted { $0.key < $1.key }.map { key, value -> JSONValue.Member in
            switch value {
            case .number(let number): .init(key, .number(number))
            case .text(let text): .init(key, .string(text))
            case .flag(let flag): .init(key, .bool(flag))
            case .unknown: .init(key, .null)
            }
        }
        let groups = told.groups.map { group -> JSONValue in
            .object([
                .init("charge_mAh", .number(group.charge_mAh)), .init("energy_Wh", .number(group.energy_Wh)),
                .init("index", .int(group.index)),
            ])
        }
        return .object([.init("details", .object(details)), .init("groups", .array(groups))])
    }

    /// Inputs of a status, which is encoded again only if they change.
    struct Status: Hashable, Sendable {
        private var state: ConnectionState
        private var since: WallTime
        private var isWanted: Bool
        private var holder: String?
        private var transport: String?
        private var error: String?

        init(_ meter: BridgedMeter) {
            (state, since, isWanted) = (meter.state, meter.since, meter.isWanted)
            (holder, transport, error) = (meter.holder, meter.transport, meter.error)
        }

        func bytes(gateway: String) -> [UInt8] {
            JSONValue.object([
                .init("state", .string(state.rawValue)),
                .init("since", .string(since.description)),
                .init("wanted", .bool(isWanted)),
                .init("holder", .text(holder)),
                .init("gateway", .string(gateway)),
                .init("transport", .text(transport)),
                .init("error", .text(error)),
            ]).bytes
        }
    }

    static func response(_ request: MeterRequest?, meter: String, _ outcome: RequestOutcome, transaction: String?)
        -> [UInt8]
    {
        var members: [JSONValue.Member] = [
            .init("meter", .string(meter)), .init("request", .text(request.map { "\($0)" })),
        ]
        switch outcome {
        case .done(let state):
            members += [.init("status", .string("ok")), .init("state", .string(state))]
        case .failed(let code, let message, let next):
            members += [
                .init("status", .string("error")),
                .init(
                    "error",
                    .object([
                        .init("code", .string(code)), .init("message", .string(message)), .init("next", .string(next)),
                    ])),
            ]
        }
        if let transaction { members.append(.init("transaction", .string(transaction))) }
        return JSONValue.object(members).bytes
    }
}

package enum RequestOutcome: Hashable, Sendable {
    case done(state: String)
    /// - Parameter code: error code for programs, as in the API.
    case failed(code: String, message: String, next: String)
}
