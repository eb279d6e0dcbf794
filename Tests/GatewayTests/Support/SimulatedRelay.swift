import Domain
import Gateway
import MeterTestKit
import Synchronization

/// The relay of a simulated zone: passes on what its lease's holder sends, under the lease's token, at once.
final class SimulatedRelay: Sendable {
    private struct State {
        var watchers: [UInt64: (meter: MeterID, continuation: AsyncThrowingStream<RelayNews, any Error>.Continuation)] =
            [:]
        var nextID: UInt64 = 0
        var parcels: [RelaySender.Parcel] = []
        var failures = 0
        var listeners: [HostID: @Sendable (CloudEvent) async -> Void] = [:]
        var orders: [RequestID: (holder: HostID, isClaimed: Bool, said: CheckedContinuation<RelayOutcome, Never>?)] =
            [:]
        /// Claims that are granted, and of which the holder hears only after this time.
        var claimDelay: (@Sendable () async -> Void)?
        var losesClaims = false
        /// Hosts that may only look.
        var barred: Set<HostID> = []
        var orderCount = 0
        var logAnswers: [LogQuestion: LogPart] = [:]
        var answersSlowly: [CheckedContinuation<Void, Never>]?
    }

    private let zone: SimulatedLeaseZone
    private let state = Mutex(State())

    init(_ zone: SimulatedLeaseZone) { self.zone = zone }

    /// Batches that were accepted.
    var parcels: [RelaySender.Parcel] { state.withLock { $0.parcels } }
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// Fails the next so many requests.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    /// A host's event stream.
    func listen(_ host: HostID, _ hear: @escaping @Sendable (CloudEvent) async -> Void) {
        state.withLock { $0.listeners[host] = hear }
    }

    /// A host may only look from now on.
    func bar(_ host: HostID) { state.withLock { _ = $0.barred.insert(host) } }

    /// Commands that reached the cloud.
    var orderCount: Int { state.withLock { $0.orderCount } }

    /// What hosts said about meters' logs.
    var logAnswers: [LogQuestion: LogPart] { state.withLock { $0.logAnswers } }

    /// The answers to claims get lost from now on.
    func loseClaims() { state.withLock { $0.losesClaims = true } }

    /// Before a holder hears that its claim is granted, this is done.
    func delayClaims(_ wait: @escaping @Sendable () async -> Void) { state.withLock { $0.claimDelay = wait } }

    /// Ends the commands of which nothing was heard.
    func giveUp() {
        let open = state.withLock { state in
            let open = state.orders.values.compactMap { order in order.said.map { ($0, order.isClaimed) } }
            for id in state.orders.keys { state.orders[id]?.said = nil }
            return open
        }
        for (said, isClaimed) in open {
            said.resume(returning: isClaimed ? .timedOut("no word") : .notDone("no claim"))
        }
    }

    var claimCount: Int { state.withLock { $0.orders.values.count { $0.isClaimed } } }

    /// Breaks all streams.
    func breakStreams() {
        let broken = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in broken { watcher.continuation.finish(throwing: SyncFailure(.network, "the stream broke")) }
    }

    func tell(_ news: RelayNews, of meter: MeterID) {
        let watchers = state.withLock { state in state.watchers.values.filter { $0.meter == meter } }
        for watcher in watchers { watcher.continuation.yield(news) }
    }

    /// The link of one host.
    func link(of host: HostID, named name: String) -> any RelayLink & LogLink {
        Link(relay: self, host: host, name: name)
    }

    private struct Link: RelayLink, LogLink {
        let relay: SimulatedRelay
        let host: HostID
        let name: String

        func watch(_ meter: MeterID, wantsAll: Bool) -> AsyncThrowingStream<RelayNews, any Error> {
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: RelayNews.self)
            let id = relay.state.withLock { state in
                state.nextID += 1
                state.watchers[state.nextID] = (meter, continuation)
                return state.nextID
            }
            continuation.onTermination = { [relay] _ in
                relay.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
            }
            return stream
        }

        func send(
            _ parcel: RelaySender.Parcel, of meter: MeterID, session: SessionID
        ) async throws(SyncFailure) -> Duration? {
            let fails = relay.state.withLock { state in
                guard state.failures > 0 else { return false }
                state.failures -= 1
                return true
            }
            if fails { throw SyncFailure(.network, "the request failed") }
            guard relay.zone.record(of: meter)?.token == parcel.token else { return nil }
            relay.state.withLock { $0.parcels.append(parcel) }
            relay.tell(
                .readings(
                    RelayObserver.Arrival(
                        epoch: "epoch", token: parcel.token, holder: host, holderName: name, batch: parcel.batch)),
                of: meter)
            return relay.watcherCount > 0 ? RelayTiming.interest : .zero
        }

        func command(
            _ id: RequestID, _ action: RelayAction, of meter: MeterID, token: FencingToken
        ) async throws(SyncFailure) -> RelayOutcome {
            let isBarred = relay.state.withLock { state in
                state.orderCount += 1
                return state.barred.contains(host)
            }
            if isBarred { throw SyncFailure(.readOnly, "this host may only look") }
            guard let record = relay.zone.record(of: meter), record.token == token, let holder = record.holder?.host
            else { return .notDone("the meter has changed hands") }
            let command = RelayCommand(
                id: id, meter: meter, token: token, action: action, author: host, authorName: name)
            let hear = relay.state.withLock { $0.listeners[holder] }
            return await withCheckedContinuation { said in
                relay.state.withLock { $0.orders[id] = (holder, false, said) }
                Task { await hear?(.command(command)) }
            }
        }

        func claim(_ command: RelayCommand, session: SessionID) async throws(SyncFailure) -> Bool {
            let (isGranted, loses, wait) = relay.state.withLock { state in
                guard let order = state.orders[command.id], order.holder == host, !order.isClaimed, order.said != nil
                else { return (false, false, state.claimDelay) }
                state.orders[command.id]?.isClaimed = true
                return (true, state.losesClaims, state.claimDelay)
            }
            if loses { throw SyncFailure(.network, "the answer was lost") }
            await wait?()
            return isGranted
        }

        func answer(_ command: RelayCommand, _ outcome: RelayOutcome) async throws(SyncFailure) {
            let said = relay.state.withLock { state in
                defer { state.orders[command.id]?.said = nil }
                return state.orders[command.id]?.said
            }
            said?.resume(returning: outcome)
        }

        func parts(of meter: MeterID, within: Duration?) async throws(SyncFailure) -> LogParts { LogParts() }

        func answer(_ question: LogQuestion, with part: LogPart) async throws(SyncFailure) {
            relay.state.withLock { $0.logAnswers[question] = part }
        }
    }
}
