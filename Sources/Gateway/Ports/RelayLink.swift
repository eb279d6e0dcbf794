package import Domain

/// The cloud as the relay uses it: it passes on readings of meters that other hosts hold. Every error is a
/// `SyncFailure`.
package protocol RelayLink: Sendable {
    /// What happens with a meter from now on; throws when the connection breaks.
    ///
    /// - Parameter wantsAll: every reading, even of a meter whose readings are folded otherwise.
    func watch(_ meter: MeterID, wantsAll: Bool) -> AsyncThrowingStream<RelayNews, any Error>
    /// Sends readings of a meter that this host holds.
    ///
    /// - Returns: for how long to go on; zero if nobody watches. Nil if the token is not the lease's.
    func send(
        _ parcel: RelaySender.Parcel, of meter: MeterID, session: SessionID
    ) async throws(SyncFailure) -> Duration?

    /// Has something done with a meter that another host holds, and waits for what becomes of it: some seconds.
    ///
    /// - Throws: where nothing is known of what became of it; a refusal of the cloud is an outcome.
    func command(
        _ id: RequestID, _ action: RelayAction, of meter: MeterID, token: FencingToken
    ) async throws(SyncFailure) -> RelayOutcome
    /// This host is about to do what another one wants of a meter that it holds.
    ///
    /// - Returns: whether it may.
    func claim(_ command: RelayCommand, session: SessionID) async throws(SyncFailure) -> Bool
    /// Says what this host did.
    func answer(_ command: RelayCommand, _ outcome: RelayOutcome) async throws(SyncFailure)
}

/// What a host hears of a meter that it watches.
package enum RelayNews: Hashable, Sendable {
    /// Who has the meter now.
    case holder(LeaseView)
    case readings(RelayObserver.Arrival)
    /// This host talks to the meter too, without its lease.
    case refused(hostName: String)
    /// So many measurements were lost on their way here.
    case lost(Int)
    case ping
}
