package import Domain
import Gateway
import Synchronization

/// Leases of a zone, for several hosts of a test. Works in memory and virtual time, with the cloud's own rules. Waiting
/// hosts are served in order of arrival; the first has ten seconds to acquire a free meter.
package final class SimulatedLeaseZone: Sendable {
    struct Offer {
        var host: HostID
        var until: MonotonicTime
        var timer: LoopTimer
    }

    struct Member {
        var name: String
        var hear: (@Sendable (CloudEvent) -> Void)?
        var isDeaf = false
    }

    struct State {
        var terms: LeaseTerms
        var records: [MeterID: LeaseRecord] = [:]
        var lines: [MeterID: [HostID]] = [:]
        var offers: [MeterID: Offer] = [:]
        var members: [HostID: Member] = [:]
        var grantsNothingNewBefore: MonotonicTime?
        var canonical: [MeterID: MeterID] = [:]
        var ignoresTakeovers = false
    }

    package let loop: VirtualLoop
    /// Transmission time of a request, an answer or an event.
    package let latency: Duration
    let state: Mutex<State>
    private let turn = Mutex(())

    package init(loop: VirtualLoop, policy: LeasePolicy, latency: Duration = .milliseconds(10)) {
        self.loop = loop
        self.latency = latency
        state = Mutex(
            State(terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)))
    }

    package func join(_ host: HostID, name: String) -> SimulatedLeaseLink {
        state.withLock { $0.members[host] = Member(name: name) }
        return SimulatedLeaseLink(host: host, zone: self)
    }

    // MARK: What a test does and asks

    package func record(of meter: MeterID) -> LeaseRecord? { state.withLock { $0.records[meter] } }

    package func holder(of meter: MeterID) -> String? { record(of: meter)?.holder?.hostName }

    package var policy: LeasePolicy { state.withLock { $0.terms.policy } }

    /// Returns the names of the waiting hosts, in order of arrival.
    package func waiting(for meter: MeterID) -> [String] {
        state.withLock { state in state.lines[meter, default: []].compactMap { state.members[$0]?.name } }
    }

    package func setPolicy(_ policy: LeasePolicy) {
        state.withLock {
            $0.terms = LeaseTerms(timeToLive: $0.terms.timeToLive, lockDelay: $0.terms.lockDelay, policy: policy)
        }
    }

    package func revoke(_ meter: MeterID) {
        inTurn { $0.change(meter) { record, _ in (LeaseRules.revoke(record).record, ()) } }
    }

    /// Deletes all leases, like a restore from a backup without them.
    ///
    /// - Parameter time: earliest time of a new grant; nil for no limit.
    package func forget(until time: MonotonicTime? = nil) {
        state.withLock {
            $0.records = [:]
            $0.grantsNothingNewBefore = time
        }
    }

    /// Ignores take-overs from now on, like a cloud version that encodes them differently.
    package func ignoreTakeovers() { state.withLock { $0.ignoresTakeovers = true } }

    /// Makes two ids refer to one meter, leased as `canonical` from now on.
    package func merge(_ meter: MeterID, into canonical: MeterID) {
        state.withLock { $0.canonical[meter] = canonical }
    }

    /// Sets whether a host receives no events. To that host, a renewed lease then seems to have expired.
    package func setDeaf(_ isDeaf: Bool, _ host: HostID) { state.withLock { $0.members[host]?.isDeaf = isDeaf } }

    // MARK: What links do

    func inTurn<Answer: Sendable>(_ deed: @Sendable (SimulatedLeaseZone) -> Answer) -> Answer {
        turn.withLock { _ in deed(self) }
    }

    func listen(_ host: HostID, _ hear: (@Sendable (CloudEvent) -> Void)?) {
        state.withLock { $0.members[host]?.hear = hear }
    }

    func acquire(_ request: LeaseAcquire, of meter: MeterID) -> AcquireOutcome {
        let wallNow = loop.wallNow
        let (meter, ignores) = state.withLock { ($0.canonical[meter] ?? meter, $0.ignoresTakeovers) }
        var request = request
        if ignores { request.takeover = nil }
        return change(meter) { record, offer in
            let now = loop.now
            let (terms, limit) = state.withLock { ($0.terms, $0.grantsNothingNewBefore) }
            let circumstances = LeaseCircumstances(
                now: now, wallNow: wallNow, terms: terms, grantsNothingNewBefore: limit, reservedFor: offer?.host,
                nextInQueue: state.withLock { $0.lines[meter]?.first })
            let decision = LeaseRules.acquire(request, of: record, in: circumstances)
            switch decision.answer {
            case .granted(let granted):
                endOffer(of: meter)
                state.withLock { $0.lines[meter]?.removeAll { $0 == request.host } }
                var view = self.view(granted, of: meter)
                if let old = record?.holder?.host, old != request.host {
                    let member = state.withLock { $0.members[old] }
                    view.isOldHolderTold = member?.hear != nil && member?.isDeaf == false
                }
                return (decision.record, .granted(view))
            case .refused(let refusal):
                if refusal.reason == .revoking, request.takeover == refusal.record?.token {
                    self.enqueue(request.host, for: meter, first: record?.state != refusal.record?.state)
                }
                let holder = refusal.record.map { self.view($0, of: meter) }
                return (decision.record, .refused(refusal.reason, holder, retryAfter: refusal.retryAfter))
            }
        }
    }

    func renew(_ lease: HeldLease, session: SessionID) -> RenewOutcome {
        change(lease.meter, isEvent: false) { record, _ in
            let decision = LeaseRules.renew(
                lease.token, session: session, of: record, under: policy, at: loop.now)
            switch decision.answer {
            case .renewed(let record): return (decision.record, .renewed(self.view(record, of: lease.meter)))
            case .lost(let loss, let record):
                return (decision.record, .lost(loss, record.map { self.view($0, of: lease.meter) }))
            }
        }
    }

    func release(_ lease: HeldLease, session: SessionID) {
        change(lease.meter) { record, _ in
            (LeaseRules.release(lease.token, session: session, of: record).record, ())
        }
    }

    func leases() -> [LeaseView] {
        let records = state.withLock { $0.records }
        return records.filter { $0.value.holder != nil }.map { view($0.value, of: $0.key) }
    }

    func enqueue(_ host: HostID, for meter: MeterID, first: Bool = false) {
        state.withLock { state in
            state.lines[meter, default: []].removeAll { first && $0 == host }
            guard !state.lines[meter, default: []].contains(host) else { return }
            state.lines[meter, default: []].insert(host, at: first ? 0 : state.lines[meter, default: []].count)
        }
        settle(meter)
    }

    func leaveQueue(_ host: HostID, for meter: MeterID) {
        let isOffered = state.withLock { state in
            state.lines[meter]?.removeAll { $0 == host }
            return state.offers[meter]?.host == host
        }
        if isOffered { endOffer(of: meter) }
        settle(meter)
    }

    private func change<Answer>(
        _ meter: MeterID, isEvent: Bool = true,
        _ rule: (LeaseRecord?, Offer?) -> (record: LeaseRecord?, answer: Answer)
    ) -> Answer {
        let now = loop.now
        let (before, offer) = state.withLock { state in
            (state.records[meter], state.offers[meter].flatMap { $0.until > now ? $0 : nil })
        }
        let (record, answer) = rule(before, offer)
        guard let record else { return answer }
        state.withLock { $0.records[meter] = record }
        if isEvent, record.state != before?.state { tell(.lease(view(record, of: meter))) }
        settle(meter)
        return answer
    }

    /// Offers a free meter to the first waiting host, then to the next one if there is no answer.
    private func settle(_ meter: MeterID) {
        let now = loop.now
        let lapsed = state.withLock { state in state.offers[meter].flatMap { $0.until <= now ? $0.host : nil } }
        if let lapsed {
            endOffer(of: meter)
            state.withLock { $0.lines[meter]?.removeAll { $0 == lapsed } }
        }
        let head = state.withLock { state -> HostID? in
            let isFree = state.records[meter].map { $0.holder == nil || $0.isOver(at: now) } ?? true
            return isFree && state.offers[meter] == nil ? state.lines[meter]?.first : nil
        }
        guard let head else { return }
        let timer = loop.schedule(at: now + LeaseRules.reservation) { [weak self] in
            self?.inTurn { $0.settle(meter) }
        }
        state.withLock {
            $0.offers[meter] = Offer(host: head, until: now + LeaseRules.reservation, timer: timer)
        }
        tell(.offer(meter: meter, reserved: LeaseRules.reservation), only: head)
    }

    private func endOffer(of meter: MeterID) {
        guard let offer = state.withLock({ $0.offers.removeValue(forKey: meter) }) else { return }
        loop.cancel(offer.timer)
    }

    private func tell(_ event: CloudEvent, only host: HostID? = nil) {
        let ears = state.withLock { state in
            state.members.filter { (host ?? $0.key) == $0.key && !$0.value.isDeaf }.compactMap(\.value.hear)
        }
        for hear in ears { _ = loop.schedule(at: loop.now + latency) { hear(event) } }
    }

    private func view(_ record: LeaseRecord, of meter: MeterID) -> LeaseView {
        LeaseView(record, of: meter, at: loop.now, waiting: waiting(for: meter))
    }
}
