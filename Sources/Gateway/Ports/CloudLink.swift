package import Domain

/// The cloud's records, as the sync engine asks for them. Every error is a `SyncFailure`.
package protocol CloudLink: Sendable {
    func account() async throws(SyncFailure) -> CloudAccount
    /// Creates the zone if it is missing.
    ///
    /// - Parameter id: the identity under which this host knows a zone of this name, given to a new one.
    func createZone(_ zone: String, id: String?) async throws(SyncFailure)
    func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage
    func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome
    /// What happens in the zone. The first event is `opened`; the stream throws when the connection breaks.
    func events() -> AsyncThrowingStream<CloudEvent, any Error>
}

/// Decides who may talk to which meter, for the lease keeper.
package protocol LeaseAuthority: Sendable {
    /// - Parameter request: its host and host name are those of the credential; the cloud ignores any others.
    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome
    /// Renews all leases of this host in one request. One result each, in the same order.
    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome]
    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure)
    /// Every lease of the zone that somebody has or waits for.
    func leases() async throws(SyncFailure) -> [LeaseView]
    /// Joins the queue, and stays in it while the event stream is open.
    func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure)
    func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure)
}

package struct HeldLease: Hashable, Sendable {
    package var meter: MeterID
    package var token: FencingToken

    package init(meter: MeterID, token: FencingToken) {
        self.meter = meter
        self.token = token
    }
}

package enum AcquireOutcome: Hashable, Sendable {
    case granted(LeaseView)
    /// The lease of the host that has the meter or is offered it. Nil if nobody does (a restored cloud waits).
    case refused(LeaseAnswer.Refusal.Reason, LeaseView?, retryAfter: Duration?)
}

package enum RenewOutcome: Hashable, Sendable {
    case renewed(LeaseView)
    case lost(LeaseRenewal.Loss, LeaseView?)
}

package enum CloudEvent: Hashable, Sendable {
    /// The stream is open: what happened before it must be fetched.
    case opened
    /// Records of these types changed. `host` wrote them; nil if several hosts did.
    case changed(types: [RecordType], host: HostID?)
    case lease(LeaseView)
    /// A meter is reserved for this host.
    case offer(meter: MeterID, reserved: Duration)
    /// Somebody watches a meter that this host holds.
    ///
    /// - `remaining`: for how long to send its readings; zero once nobody does any more.
    case interest(meter: MeterID, remaining: Duration, wantsAll: Bool)
    /// Another host wants something of a meter that this host holds.
    case command(RelayCommand)
    /// Another host wants to know what this one has of a meter's log.
    case log(LogQuestion)
    /// The cloud is alive. `serverTime` is its wall clock, in milliseconds since 1970.
    case ping(serverTime: UInt64)
}
