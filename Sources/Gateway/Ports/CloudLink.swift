package import LeaseCore
package import MeterModel
package import SettingsCore
package import SyncCore

/// The cloud's records, as the sync engine asks for them. Every error is a `SyncFailure`.
package protocol CloudLink: Sendable {
    func account() async throws(SyncFailure) -> CloudAccount
    /// Makes the zone where it is missing.
    ///
    /// - Parameter id: what this host knows a zone of this name by: one that has to be made gets this identity.
    func createZone(_ zone: String, id: String?) async throws(SyncFailure)
    func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage
    func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome
    /// What happens in the zone, until the stream breaks: then it throws. The first event is `opened`.
    func events() -> AsyncThrowingStream<CloudEvent, any Error>
}

/// Who may talk to which meter, as the lease keeper asks for it.
package protocol LeaseAuthority: Sendable {
    /// - Parameter request: its host and host name are those of the credential; the cloud does not take others' word.
    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome
    /// All leases of this host in one request. One result each, in their order.
    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome]
    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure)
    /// Every lease of the zone that somebody has or waits for.
    func leases() async throws(SyncFailure) -> [LeaseView]
    /// Waits in line while the event stream is open.
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
    /// Somebody has it, or is offered it; nil where nobody does (a restored cloud waits).
    case refused(LeaseAnswer.Refusal.Reason, LeaseView?, retryAfter: Duration?)
}

package enum RenewOutcome: Hashable, Sendable {
    case renewed(LeaseView)
    case lost(LeaseRenewal.Loss, LeaseView?)
}

package enum CloudEvent: Hashable, Sendable {
    /// The stream is open: what happened before it must be fetched.
    case opened
    /// Records of these types changed. `host` wrote them, nil means several did.
    case changed(types: [RecordType], host: HostID?)
    case lease(LeaseView)
    /// A meter is reserved for this host.
    case offer(meter: MeterID, reserved: Duration)
    /// The cloud is there. Its wall clock, milliseconds since 1970.
    case ping(serverTime: UInt64)
}
