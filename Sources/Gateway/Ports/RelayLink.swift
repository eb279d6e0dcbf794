package import Domain

/// Relay of readings and commands between hosts. Every error is a `SyncFailure`.
package protocol RelayLink: Sendable {
    /// Returns future readings and events; throws when the connection breaks. `wantsAll` requests every reading instead
    /// of means.
    func watch(_ meter: MeterID, wantsAll: Bool) -> AsyncThrowingStream<RelayNews, any Error>
    /// Sends readings of a meter that this host holds. Returns how long to continue: zero if nobody watches, nil if the
    /// fencing token does not match the lease.
    func send(
        _ parcel: RelaySender.Parcel, of meter: MeterID, session: SessionID
    ) async throws(SyncFailure) -> Duration?

    /// Sends a command to the meter's holder and waits some seconds for the outcome.
    ///
    /// - Throws: `SyncFailure` if the outcome is unknown. A refusal by the cloud is an outcome.
    func command(
        _ id: RequestID, _ action: RelayAction, of meter: MeterID, token: FencingToken
    ) async throws(SyncFailure) -> RelayOutcome
    /// Claims another host's command. Returns whether this host may execute it.
    func claim(_ command: RelayCommand, session: SessionID) async throws(SyncFailure) -> Bool
    func answer(_ command: RelayCommand, _ outcome: RelayOutcome) async throws(SyncFailure)
}

package enum RelayNews: Hashable, Sendable {
    case holder(LeaseView)
    case readings(RelayObserver.Arrival)
    /// The cloud refused readings from the named host, which uses the meter without its lease.
    case refused(hostName: String)
    /// Number of measurements lost in transit.
    case lost(Int)
    case ping
}
