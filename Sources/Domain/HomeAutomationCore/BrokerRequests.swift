/// Requests that came through the broker: those being carried out, and how many more are handled for now.
struct BrokerRequests: Sendable {
    /// A request being carried out.
    private struct Asked: Sendable {
        var request: MeterRequest
        var key: String
    }

    /// What a request leads to.
    enum Verdict: Hashable, Sendable {
        case perform(RequestNumber, MeterRequest, MeterID)
        /// - Parameter cause: for the log, if the refusal is worth a line.
        case refuse(Response, cause: String?)
    }

    /// An answer to a request.
    struct Response: Hashable, Sendable {
        /// Nil if it could not be read.
        var request: MeterRequest?
        /// The meter's level in the request's topic.
        var key: String
        var transaction: String?
        var outcome: RequestOutcome
    }

    /// Most requests carried out at once, for all meters together.
    static let performingMax = 8
    /// Most messages to request topics handled between two looks at the meters. The rest are only counted, so that a
    /// flood fills neither the log nor the broker.
    static let messagesPerTick = 20

    private var performing: [RequestNumber: Asked] = [:]
    private var nextNumber: RequestNumber = 1
    /// How many more messages are handled before the next tick.
    private var left = Self.messagesPerTick
    private var ignored = 0

    // MARK: How many

    /// A message came to a request topic.
    ///
    /// - Returns: whether to handle it.
    mutating func admit() -> Bool {
        guard left > 0 else {
            ignored += 1
            return false
        }
        left -= 1
        return true
    }

    /// Messages were lost before they came here.
    mutating func overrun(by count: Int) { ignored += count }

    /// A look at the meters has ended: as many messages may come again.
    ///
    /// - Returns: number of messages ignored since the last time.
    mutating func tick() -> Int {
        left = Self.messagesPerTick
        defer { ignored = 0 }
        return ignored
    }

    // MARK: What they ask

    /// - Parameters:
    ///   - key: the meter's level in the topic.
    ///   - meter: the meter of that key, if there is one.
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

    /// A request was carried out, or failed.
    ///
    /// - Returns: the answer, unless nothing was asked under this number.
    mutating func answered(_ number: RequestNumber, _ outcome: RequestOutcome) -> Response? {
        performing.removeValue(forKey: number).map { Self.response(to: $0.request, of: $0.key, outcome) }
    }

    private static func response(
        to request: MeterRequest, of key: String, _ outcome: RequestOutcome
    ) -> Response {
        Response(request: request, key: key, transaction: request.transaction, outcome: outcome)
    }
}
