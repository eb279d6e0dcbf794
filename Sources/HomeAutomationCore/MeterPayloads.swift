import MeterModel

/// The payloads published about a meter besides discovery.
enum MeterPayloads {
    /// The values with the time of measurement. An unknown value is null.
    ///
    /// - Parameter countedSince: since when the gateway counts energy for the meter, if it does.
    static func state(_ reading: TimedReading, countedSince: WallTime? = nil) -> [UInt8] {
        var members: [JSONValue.Member] = [.init("time", .string(reading.wallTime.description))]
        reading.reading.forEach { quantity, value in
            members.append(.init(quantity.key, value.map { .number($0) } ?? .null))
        }
        if let countedSince { members.append(.init("counted_since", .string(countedSince.description))) }
        return JSONValue.object(members).bytes
    }

    /// What a meter's status is made from, so that it is generated only if that changes.
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

        /// - Parameter gateway: the one that publishes it.
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

    /// The answer to a request.
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

/// The outcome of a request.
package enum RequestOutcome: Hashable, Sendable {
    /// Done; the state is the meter's state afterwards.
    case done(state: String)
    /// - Parameters:
    ///   - code: for programs, as in the API.
    ///   - message: what failed, with which value.
    ///   - next: what to do.
    case failed(code: String, message: String, next: String)
}
