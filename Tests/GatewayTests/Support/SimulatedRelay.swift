import Gateway
import IOPorts
import LeaseCore
import MeterModel
import MeterTestKit
import RelayCore
import SyncCore
import Synchronization

/// The relay of a simulated zone: passes on what its lease's holder sends, under the lease's token, at once.
final class SimulatedRelay: Sendable {
    private struct State {
        var watchers: [UInt64: (meter: MeterID, continuation: AsyncThrowingStream<RelayNews, any Error>.Continuation)] =
            [:]
        var nextID: UInt64 = 0
        var parcels: [RelaySender.Parcel] = []
        var failures = 0
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
    func link(of host: HostID, named name: String) -> any RelayLink { Link(relay: self, host: host, name: name) }

    private struct Link: RelayLink {
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
    }
}
