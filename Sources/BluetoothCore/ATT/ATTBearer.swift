package import Domain

/// The client end of an attribute protocol conversation, on a host that serves no attributes itself.
///
/// ```
///   ┌──────┐   nextPDU gives a request    ┌─────────┐   30 s without its answer   ┌──────┐
///   │ IDLE │─────────────────────────────▶│ WAITING │────────────────────────────▶│ DEAD │
///   └──────┘◀─────────────────────────────└─────────┘                             └──────┘
///                     its answer
/// ```
///
/// Pulled, not pushed: the driver takes PDUs with `nextPDU` whenever the link has room, so nothing piles up here
/// however much the peer sends. At most one request is ever outstanding (Core Specification 5.4, vol 3 part F 3.3.2).
/// Notifications and indications come at any time. Late, repeated or unrequested PDUs are counted and otherwise
/// ignored.
package struct ATTBearer: Sendable {
    /// How long a request may stay unanswered (vol 3 part F 3.3.3). After that nothing may be sent: the link has to be
    /// made anew.
    static let transactionTimeout = Duration.seconds(30)
    /// Most answers to the peer that may wait to be sent. A peer has one request and one indication outstanding at a
    /// time, so only one that breaks this rule needs more.
    private static let replyLimit = 4

    /// The longest PDU that both ends accept, 23 to 517 bytes.
    package private(set) var mtu = ATTPDU.defaultMTU
    package private(set) var counters = Counters()
    private let ownMTU: Int
    private var phase = Phase.idle
    /// Requests and commands, in the order in which they were given.
    private var outgoing: [ATTPDU] = []
    private var replies: [ATTPDU] = []

    private enum Phase: Sendable {
        /// Valid transitions: `waiting`.
        case idle
        /// Valid transitions: `idle`, `dead`.
        case waiting(request: ATTPDU, since: MonotonicTime)
        case dead
    }

    /// Number of irregularities that did no harm.
    package struct Counters: Hashable, Sendable {
        /// Unrequested answers: late, repeated, or of another kind than the outstanding request.
        package var unasked = 0
        /// PDUs that could not be read.
        package var malformed = 0
        /// Requests from the peer for something this host does not serve.
        package var refused = 0
        /// Requests left unanswered because they came faster than answers could be sent.
        package var unanswered = 0
    }

    /// - Parameter ownMTU: the longest PDU that this host accepts.
    package init(ownMTU: Int = ATTPDU.largestMTU) {
        self.ownMTU = min(max(ownMTU, ATTPDU.defaultMTU), ATTPDU.largestMTU)
    }

    /// Both ends have agreed on an MTU already, because another host made the link. Not to be called within a request.
    mutating func agreed(on mtu: Int) { self.mtu = min(max(mtu, ATTPDU.defaultMTU), ownMTU) }

    /// Whether a request timed out, after which nothing is sent or accepted.
    package var isDead: Bool {
        if case .dead = phase { true } else { false }
    }

    // MARK: Sending

    /// Queues a request or a command of this host.
    package mutating func send(_ pdu: ATTPDU) {
        guard !isDead else { return }
        outgoing.append(pdu)
    }

    /// Queues the request by which both ends agree on an MTU. At most once for each connection (vol 3 part F 3.4.2.1).
    package mutating func exchangeMTU() {
        send(.exchangeMTURequest(mtu: UInt16(clamping: ownMTU)))
    }

    /// The next PDU to send, if any. The time limit of a request starts here.
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
        /// The answer to the outstanding request.
        case answered(request: ATTPDU, ATTAnswer)
        /// Values sent by the peer. Never empty.
        case values([ATTHandleValue])
        case none
    }

    /// Handles an incoming PDU, which may be any bytes at all.
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
        // An unknown opcode may be a request of a later version; a command is never answered.
        if opcode == nil, !ATTOpcode.isCommand(raw) {
            reply(.errorResponse(to: raw, handle: 0, error: .requestNotSupported))
        } else if opcode?.kind == .request {
            reply(.errorResponse(to: raw, handle: 0, error: .invalidPDU))
        }
        return .none
    }

    // MARK: Requests from the peer

    /// Answers as a server without attributes: searches find nothing, no handle is valid, and optional requests are not
    /// supported (vol 3 part F, table 4.1).
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

    /// The smaller of the two MTUs; neither may be less than every bearer carries.
    private mutating func agree(on peerMTU: UInt16) {
        mtu = max(ATTPDU.defaultMTU, min(ownMTU, Int(peerMTU)))
    }

    // MARK: Time

    package enum OnWoke: Hashable, Sendable {
        /// This request was not answered. The bearer is dead, and its link must be closed.
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

    /// When `woke` has something to do next.
    package var nextWake: MonotonicTime? {
        guard case .waiting(_, let since) = phase else { return nil }
        return since + Self.transactionTimeout
    }
}

/// The result of a request.
package enum ATTAnswer: Hashable, Sendable {
    /// The kind of response that belongs to the request.
    case response(ATTPDU)
    case refused(ATTErrorCode)
    /// A response of the right kind that could not be read.
    case malformed(ATTDecodeError)
}
