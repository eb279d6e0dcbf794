package import Domain

/// Connection to the cloud. Every error is a `SyncFailure`.
package protocol CloudLink: Sendable {
    func account() async throws(SyncFailure) -> CloudAccount
    /// Creates the zone if it is missing.
    ///
    /// - Parameter id: the zone's identity as stored by this host; the cloud uses it only for a new zone.
    func createZone(_ zone: String, id: String?) async throws(SyncFailure)
    func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage
    func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome
    /// Returns the zone's events, beginning with `opened`. The stream throws when the connection breaks.
    func events() -> AsyncThrowingStream<CloudEvent, any Error>
}

package protocol LeaseAuthority: Sendable {
    /// Requests a lease. The cloud uses the host and host name of the access token, not those of the request.
    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome
    /// Returns one result per lease, in the same order.
    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome]
    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure)
    /// Returns every lease of the zone with a holder or a queue.
    func leases() async throws(SyncFailure) -> [LeaseView]
    /// Joins the queue for a lease. The place is kept while the event stream is open.
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
    /// `LeaseView`: lease held by, or offered to, a host. Nil without such a host, for example while a restored cloud
    /// grants no leases yet.
    case refused(LeaseAnswer.Refusal.Reason, LeaseView?, retryAfter: Duration?)
}

package enum RenewOutcome: Hashable, Sendable {
    case renewed(LeaseView)
    case lost(LeaseRenewal.Loss, LeaseView?)
}

package enum CloudEvent: Hashable, Sendable {
    /// The event stream is open. Earlier changes must be fetched.
    case opened
    /// `host` is nil if several hosts changed records.
    case changed(types: [RecordType], host: HostID?)
    case lease(LeaseView)
    case offer(meter: MeterID, reserved: Duration)
    /// Another host watches a meter that this host holds. Send its readings for `remaining`; zero once nobody watches.
    case interest(meter: MeterID, remaining: Duration, wantsAll: Bool)
    case command(RelayCommand)
    case log(LogQuestion)
    /// Keep-alive. `serverTime` is the cloud's wall clock in milliseconds since 1970.
    case ping(serverTime: UInt64)
}
