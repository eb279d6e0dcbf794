import CloudAPI
import Domain
import Synchronization

final class EventHub: Sendable {
    private struct Listener {
        var buffer: EventBuffer
        var host: HostID
        var hostName: String
        var credential: String
        var hasQueued = false
    }

    private struct Zone {
        var listeners: [UInt64: Listener] = [:]
        var hosts: [HostID: [UInt64]] = [:]

        /// Listeners in order of arrival, so that a simulated run is reproducible.
        var inOrder: [(key: UInt64, value: Listener)] { listeners.sorted { $0.key < $1.key } }

        mutating func remove(_ id: UInt64) -> Listener? {
            guard let gone = listeners.removeValue(forKey: id) else { return nil }
            hosts[gone.host]?.removeAll { $0 == id }
            if hosts[gone.host]?.isEmpty == true { hosts[gone.host] = nil }
            return gone
        }
    }

    private struct State {
        var zones: [String: Zone] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// - Throws: `serviceUnavailable` after `close`.
    func subscribe(
        to zone: String, host: HostID, named hostName: String, credential: String
    ) throws(CloudFailure) -> EventSubscription {
        let buffer = EventBuffer()
        let id = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.zones[zone, default: Zone()].listeners[state.nextID] = Listener(
                buffer: buffer, host: host, hostName: hostName, credential: credential)
            state.zones[zone]?.hosts[host, default: []].append(state.nextID)
            return state.nextID
        }
        guard let id else { throw .stopping }
        return EventSubscription(EventSubscription.Handle(buffer: buffer) { [self] in remove(id, from: zone) })
    }

    private func remove(_ id: UInt64, from zone: String) {
        let gone = state.withLock { state in
            let gone = state.zones[zone]?.remove(id)
            if state.zones[zone]?.listeners.isEmpty == true { state.zones[zone] = nil }
            return gone
        }
        gone?.buffer.end()
    }

    func isListening(_ host: HostID, in zone: String) -> Bool {
        state.withLock { $0.zones[zone]?.hosts[host] != nil }
    }

    func listeners(in zone: String) -> [HostID: String] {
        state.withLock { state in
            (state.zones[zone] ?? Zone()).listeners.values.reduce(into: [:]) { $0[$1.host] = $1.hostName }
        }
    }

    /// Marks the host's open streams as those of a host in a lease queue.
    ///
    /// - Returns: false if the host has no open stream at this replica.
    func noteQueue(of host: HostID, in zone: String) -> Bool {
        state.withLock { state in
            let streams = state.zones[zone]?.hosts[host] ?? []
            for id in streams { state.zones[zone]?.listeners[id]?.hasQueued = true }
            return !streams.isEmpty
        }
    }

    var listenerCount: Int { state.withLock { $0.zones.values.reduce(0) { $0 + $1.listeners.count } } }

    func tellChange(of types: [String], by host: HostID?, in zone: String) {
        let event = EventBody(change: EventBody.Change(types: types, hostID: host?.description))
        tell(zone) { _ in event }
    }

    /// - Parameter session: the lease's session, sent only to `holder`.
    func tellLease(_ lease: LeaseBody, session: SessionID?, of holder: HostID?, in zone: String) {
        var own = lease
        own.session = session?.description
        let (forAll, forHolder) = (EventBody(lease: lease), EventBody(lease: own))
        tell(zone) { $0 == holder ? forHolder : forAll }
    }

    func tellOffer(of meter: String, reserved: Duration, to host: HostID, in zone: String) {
        tell(host, in: zone, EventBody(offer: EventBody.Offer(meter: meter, reserved: reserved.milliseconds)))
    }

    /// - Parameter time: time for which the holder must send readings; zero without watchers.
    func tellInterest(in meter: String, for time: Duration, wantsAll: Bool, to holder: HostID, zone: String) {
        let interest = EventBody.Interest(meter: meter, remaining: time.milliseconds, all: wantsAll)
        tell(holder, in: zone, EventBody(interest: interest))
    }

    func tellCommand(_ command: EventBody.Command, to holder: HostID, zone: String) {
        tell(holder, in: zone, EventBody(command: command))
    }

    func tellLogQuestion(_ question: EventBody.LogQuestion, to host: HostID, zone: String) {
        tell(host, in: zone, EventBody(log: question))
    }

    /// Sends a ping to every stream.
    func tellTime(_ time: WallTime) {
        let zones = state.withLock { $0.zones.keys.sorted() }
        let event = EventBody(serverTime: time.millisecondsSince1970)
        for zone in zones { tell(zone) { _ in event } }
    }

    func end(credential: String) { endAll { $0.credential == credential } }

    /// Ends the streams of hosts in lease queues, so that they reconnect and queue again.
    func endQueues() { endAll { $0.hasQueued } }

    private func endAll(where isMeant: (Listener) -> Bool) {
        for one in streams(where: isMeant) { remove(one.id, from: one.zone) }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func close() { state.withLock { $0.isClosed = true } }

    /// Ends at most `count` streams.
    ///
    /// - Returns: whether streams are left.
    func end(upTo count: Int) -> Bool {
        let all = streams { _ in true }
        for one in all.prefix(count) { remove(one.id, from: one.zone) }
        return all.count > count
    }

    private func streams(where isMeant: (Listener) -> Bool) -> [(zone: String, id: UInt64)] {
        state.withLock { state in
            state.zones.flatMap { zone, all in
                all.listeners.filter { isMeant($0.value) }.map { (zone: zone, id: $0.key) }
            }
            .sorted { $0.id < $1.id }
        }
    }

    private func tell(_ host: HostID, in zone: String, _ event: EventBody) {
        let listeners = state.withLock { state -> [(key: UInt64, value: Listener)] in
            guard let all = state.zones[zone] else { return [] }
            return (all.hosts[host] ?? []).compactMap { id in all.listeners[id].map { (id, $0) } }
        }
        push(to: listeners, of: zone) { _ in event }
    }

    private func tell(_ zone: String, _ event: (HostID) -> EventBody) {
        push(to: state.withLock { $0.zones[zone]?.inOrder ?? [] }, of: zone, event)
    }

    private func push(
        to listeners: [(key: UInt64, value: Listener)], of zone: String, _ event: (HostID) -> EventBody
    ) {
        for (id, listener) in listeners where !listener.buffer.push(event(listener.host)) { remove(id, from: zone) }
    }
}
