package import Domain

/// The client end of an attribute protocol (ATT) conversation. This host serves no attributes itself.
///
/// ```
///   ┌──────┐   nextPDU gives a request    ┌─────────┐   30 s without its answer   ┌──────┐
///   │ IDLE │─────────────────────────────▶│ WAITING │────────────────────────────▶│ DEAD │
///   └──────┘◀─────────────────────────────└─────────┘                             └──────┘
///                     its answer
/// ```
///
/// The driver pulls PDUs with `nextPDU` whenever the link has room. At most one request is outstanding (Core
/// Specification 5.4, vol 3 part F 3.3.2). Late, repeated or unrequested PDUs are only counted.
package struct ATTBearer: Sendable {
    /// Timeout of a request (vol 3 part F 3.3.3), after which the link is unusable.
    static let transactionTimeout = Duration.seconds(30)
    /// Maximum number of queued replies. A correct peer has at most one request and one indication outstanding.
    private static let replyLimit = 4

    /// The longest PDU that both ends accept, 23 to 517 bytes.
    package private(set) var mtu = ATTPDU.defaultMTU
    package private(set) var counters = Counters()
    private let ownMTU: Int
    private var phase = Phase.idle
    private var outgoing: [ATTPDU] = []
    private var replies: [ATTPDU] = []

    private enum Phase: Sendable {
        case idle
        case waiting(request: ATTPDU, since: MonotonicTime)
        case dead
    }

    package struct Counters: Hashable, Sendable {
        /// Number of answers that are late, repeated, or of another kind than the outstanding request expects.
        package var unasked = 0
        package var malformed = 0
        package var refused = 0
        /// Number of the peer's requests that got no reply, because too many replies were queued.
        package var unanswered = 0
    }

    package init(ownMTU: Int = ATTPDU.largestMTU) {
        self.ownMTU = min(max(ownMTU, ATTPDU.defaultMTU), ATTPDU.largestMTU)
    }

    /// Sets the MTU that another host negotiated. Never call this while a request is outstanding.
    mutating func agreed(on mtu: Int) { self.mtu = min(max(mtu, ATTPDU.defaultMTU), ownMTU) }

    /// Whether a request timed out: the bearer then sends and accepts nothing.
    package var isDead: Bool {
        if case .dead = phase { true } else { false }
    }

    // MARK: Sending

    package mutating func send(_ pdu: ATTPDU) {
        guard !isDead else { return }
        outgoing.append(pdu)
    }

    /// Queues the MTU exchange. Call it at most once for each connection (vol 3 part F 3.4.2.1).
    package mutating func exchangeMTU() {
        send(.exchangeMTURequest(mtu: UInt16(clamping: ownMTU)))
    }

    /// Returns the next PDU to send. The timeout of a request starts here.
    package mutating func nextPDU(at now: MonotonicTime) -> ATTPDU? {
        if case .dead = phase { return nil }
        if !replies.isEmpty { return replies.removeFirst() }
        guard let next = outgoing.first else { return nil }
        guard next.opcode.kind == .request else { return outgoing.removeFirst() }
        guard case .idle = phase else { return nil }
        phase = .waiting(request: next, since: now)
        return outgoing.removeFirst()
    }

    // MARK: Receiving

    package enum OnReceived: Hashable, Sendable {
        case answered(request: ATTPDU, ATTAnswer)
        /// Notified or indicated values, at least one.
        case values([ATTHandleValue])
        case none
    }

    package mutating func received(_ bytes: [UInt8]) -> OnReceived {
        if case .dead = phase { return .none }
        let pdu: ATTPDU
        do {
            pdu = try ATTPDU(bytes)
        } catch {
            return receivedMalformed(error)
        }
        switch pdu.opcode.kind {
        case .response: return receivedAnswer(pdu)
        case .request:
            reply(to: pdu)
            return .none
        case .notification, .indication: return receivedValues(pdu)
        case .command:
            counters.refused += 1
            return .none
        case .confirmation:
            counters.unasked += 1
            return .none
        }
    }

    private mutating func receivedValues(_ pdu: ATTPDU) -> OnReceived {
        switch pdu {
        case .notification(let value): return .values([value])
        case .multipleNotification(let values): return .values(values)
        case .indication(let value):
            reply(.confirmation)
            return .values([value])
        default: return .none
        }
    }

    private mutating func receivedAnswer(_ pdu: ATTPDU) -> OnReceived {
        guard case .waiting(let request, _) = phase else {
            counters.unasked += 1
            return .none
        }
        if case .errorResponse(let opcode, _, let error) = pdu, opcode == request.opcode.rawValue {
            phase = .idle
            return .answered(request: request, .refused(error))
        }
        guard pdu.opcode == request.opcode.response else {
            counters.unasked += 1
            return .none
        }
        phase = .idle
        if case .exchangeMTUResponse(let peerMTU) = pdu { agree(on: peerMTU) }
        return .answered(request: request, .response(pdu))
    }

    private mutating func receivedMalformed(_ error: ATTDecodeError) -> OnReceived {
        counters.malformed += 1
        guard let raw = error.opcode else { return .none }
        let opcode = ATTOpcode(rawValue: raw)
        if case .waiting(let request, _) = phase, let opcode, opcode == request.opcode.response {
            phase = .idle
            return .answered(request: request, .malformed(error))
        }
        // Refuse an unknown opcode, perhaps of a later version. Commands never get a reply.
        if opcode == nil, !ATTOpcode.isCommand(raw) {
            reply(.errorResponse(to: raw, handle: 0, error: .requestNotSupported))
        } else if opcode?.kind == .request {
            reply(.errorResponse(to: raw, handle: 0, error: .invalidPDU))
        }
        return .none
    }

    // MARK: Requests from the peer

    /// Replies like a server without attributes (vol 3 part F, table 4.1).
    private mutating func reply(to request: ATTPDU) {
        let raw = request.opcode.rawValue
        switch request {
        case .exchangeMTURequest(let peerMTU):
            agree(on: peerMTU)
            return reply(.exchangeMTUResponse(mtu: UInt16(clamping: ownMTU)))
        case .findInformationRequest(let range), .findByTypeValueRequest(let range, _, _),
            .readByTypeRequest(let range, _), .readByGroupTypeRequest(let range, _):
            let isValid = range.first > 0 && range.first <= range.last
            reply(
                .errorResponse(to: raw, handle: range.first, error: isValid ? .attributeNotFound : .invalidHandle))
        case .readRequest(let handle):
            reply(.errorResponse(to: raw, handle: handle, error: .invalidHandle))
        default:
            reply(.errorResponse(to: raw, handle: 0, error: .requestNotSupported))
        }
        counters.refused += 1
    }

    private mutating func reply(_ pdu: ATTPDU) {
        guard replies.count < Self.replyLimit else {
            counters.unanswered += 1
            return
        }
        replies.append(pdu)
    }

    private mutating func agree(on peerMTU: UInt16) {
        mtu = max(ATTPDU.defaultMTU, min(ownMTU, Int(peerMTU)))
    }

    // MARK: Time

    package enum OnWoke: Hashable, Sendable {
        /// The bearer is dead: the driver must close its link.
        case timedOut(request: ATTPDU)
        case none
    }

    package mutating func woke(at now: MonotonicTime) -> OnWoke {
        guard case .waiting(let request, let since) = phase, now - since >= Self.transactionTimeout else {
            return .none
        }
        phase = .dead
        outgoing = []
        replies = []
        return .timedOut(request: request)
    }

    package var nextWake: MonotonicTime? {
        guard case .waiting(_, let since) = phase else { return nil }
        return since + Self.transactionTimeout
    }
}

package enum ATTAnswer: Hashable, Sendable {
    case response(ATTPDU)
    case refused(ATTErrorCode)
    /// Response of the expected kind that could not be decoded.
    case malformed(ATTDecodeError)
}
