import CloudAPI
import Domain

extension CloudService {
    /// - Parameters:
    ///   - record: nil if the meter was never leased.
    ///   - viewer: the host that reads it; only the holder gets the session.
    func body(of record: LeaseRecord?, meter: String, in zone: Zone, for viewer: HostID? = nil) -> LeaseBody {
        let terms = record?.terms ?? zone.terms
        let remaining = record?.remaining(at: clock.now()) ?? .zero
        var body = LeaseBody(
            meter: meter, state: Self.state(of: record, remaining: remaining), token: record?.token.rawValue ?? 0,
            ttl: terms.timeToLive.milliseconds, lockDelay: terms.lockDelay.milliseconds, policy: terms.policy.rawValue,
            remaining: remaining.milliseconds, waiting: queues.names(at: MeterPlace(zone: zone.name, meter: meter)))
        guard let holder = record?.holder else { return body }
        body.holderID = holder.host.description
        body.holderName = holder.hostName
        body.session = holder.host == viewer ? holder.session.description : nil
        body.transport = holder.transport.rawValue
        body.acquiredAt = holder.acquiredAt.description
        body.expiresAt = (clock.wallNow() + remaining).description
        return body
    }

    private static func state(of record: LeaseRecord?, remaining: Duration) -> String {
        switch record?.state {
        case nil, .free: "free"
        case .held: remaining > .zero ? "held" : "expired"
        case .revoking: remaining > .zero ? "revoking" : "expired"
        }
    }

    func tell(_ record: LeaseRecord?, meter: String, in zone: Zone) {
        hub.tellLease(
            body(of: record, meter: meter, in: zone), session: record?.holder?.session, of: record?.holder?.host,
            in: zone.name)
        relayLease(record, of: meter, in: zone)
    }

    static func meter(_ text: String) throws(CloudFailure) -> String {
        guard text.utf8.count <= CloudLimits.nameBytes, let meter = MeterID(text) else {
            throw CloudFailure(
                .badRequest, "\"\(text.prefix(64))\" is not a meter id; one is a MAC address, usb:… or port:…")
        }
        return meter.description
    }

    static func session(_ text: String) throws(CloudFailure) -> SessionID {
        guard let session = SessionID(text) else {
            throw CloudFailure(.badRequest, "\"\(text.prefix(64))\" is not a session; one is a UUID")
        }
        return session
    }
}

extension AcquireRequest {
    fileprivate var namedTakeover: FencingToken? {
        if case .of(let token) = takeover { FencingToken(rawValue: token) } else { nil }
    }

    var isUnnamedTakeover: Bool { takeover == .unnamed(true) }
}

extension LeaseAcquire {
    init(_ request: AcquireRequest, by member: CloudService.Member, in zone: Zone) throws(CloudFailure) {
        guard let requestID = RequestID(request.requestID) else {
            throw CloudFailure(.badRequest, "\"\(request.requestID.prefix(64))\" is not a request id; one is a UUID")
        }
        guard let transport = LeaseTransport(rawValue: request.transport) else {
            throw CloudFailure(.badRequest, "\"\(request.transport.prefix(64))\" is not a transport: ble, spp or usb")
        }
        let policy = request.policy.map { LeasePolicy(rawValue: $0) } ?? .keep
        guard let policy else {
            throw CloudFailure(.badRequest, "\"\(request.policy?.prefix(64) ?? "")\" is not a policy: keep or strict")
        }
        if let ttl = request.ttl, ttl <= 0 {
            throw CloudFailure(.badRequest, "a time to live of \(ttl) ms is not positive")
        }
        self.init(
            requestID: requestID, host: member.host, hostName: member.name,
            session: try CloudService.session(request.session),
            previousSession: try request.previousSession.map { text throws(CloudFailure) in
                try CloudService.session(text)
            },
            timeToLive: request.ttl.map { .milliseconds($0) } ?? zone.terms.timeToLive, transport: transport,
            policy: policy, takeover: request.namedTakeover,
            tokenFloor: request.tokenFloor.map { FencingToken(rawValue: $0) })
    }
}
