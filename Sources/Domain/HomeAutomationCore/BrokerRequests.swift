struct BrokerRequests: Sendable {
    private struct Asked: Sendable {
        var request: MeterRequest
        var key: String
    }

    enum Verdict: Hashable, Sendable {
        case perform(RequestNumber, MeterRequest, MeterID)
        /// - Parameter cause: reason for the log; nil if the refusal is not logged.
        case refuse(Response, cause: String?)
    }

    struct Response: Hashable, Sendable {
        /// Nil if the payload was not a request.
        var request: MeterRequest?
        /// Topic level that names the meter.
        var key: String
        var transaction: String?
        var outcome: RequestOutcome
    }

    /// Maximum number of requests in progress, for all meters together.
    static let performingMax = 8
    /// Maximum number of messages between two ticks. Others are only counted, so that a flood fills neither the log nor
    /// the broker.
    static let messagesPerTick = 20

    private var performing: [RequestNumber: Asked] = [:]
    private var nextNumber: RequestNumber = 1
    private var left = Self.messagesPerTick
    private var ignored = 0

    // MARK: How many

    mutating func admit() -> Bool {
        guard left > 0 else {
            ignored += 1
            return false
        }
        left -= 1
        return true
    }

    mutating func overrun(by count: Int) { ignored += count }

    /// Resets the rate limit, once per call of `BridgeMachine.observed`.
    ///
    /// - Returns: number of messages ignored since the last tick.
    mutating func tick() -> Int {
        left = Self.messagesPerTick
        defer { ignored = 0 }
        return ignored
    }

    // MARK: What they ask

    /// - Parameter meter: nil if no meter has this key.
    mutating func asked(_ payload: [UInt8], of key: String, meter: MeterID?) -> Verdict {
        guard performing.count < Self.performingMax else {
            let outcome = RequestOutcome.failed(
                code: "too-many-requests", message: "\(performing.count) requests are being carried out already",
                next: "wait for their responses")
            return .refuse(Response(key: key, outcome: outcome), cause: nil)
        }
        let request: MeterRequest
        do throws(MeterRequest.Problem) {
            request = try MeterRequest(payload)
        } catch {
            let outcome = RequestOutcome.failed(code: "bad-request", message: error.message, next: error.next)
            return .refuse(
                Response(key: key, transaction: error.transaction, outcome: outcome), cause: error.message)
        }
        guard let meter else {
            let outcome = RequestOutcome.failed(
                code: "no-such-meter", message: "no meter is called \(key)", next: "meterctl scan")
            return .refuse(Self.response(to: request, of: key, outcome), cause: "there is no such meter")
        }
        let number = nextNumber
        nextNumber += 1
        performing[number] = Asked(request: request, key: key)
        return .perform(number, request, meter)
    }

    /// Returns the response to a request; nil if `number` is unknown.
    mutating func answered(_ number: RequestNumber, _ outcome: RequestOutcome) -> Response? {
        performing.removeValue(forKey: number).map { Self.response(to: $0.request, of: $0.key, outcome) }
    }

    private static func response(
        to request: MeterRequest, of key: String, _ outcome: RequestOutcome
    ) -> Response {
        Response(request: request, key: key, transaction: request.transaction, outcome: outcome)
    }
}
