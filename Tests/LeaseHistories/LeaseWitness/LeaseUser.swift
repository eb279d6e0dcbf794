package import CloudAPI
package import CloudClient
package import Domain
import Gateway
package import SimulatedCloud

/// A host that does with the meters of its zone whatever comes to its mind, through the real client, and records it.
///
/// It is also what no good host is: it asks with old tokens, asks twice, and goes away without a word.
package actor LeaseUser {
    /// Where the cloud is: its copies; nil while it is down.
    package typealias Address = @Sendable () -> [String]?

    let name: String
    let host: HostID
    private let meters: ZoneMeters
    let history: LeaseHistory
    private let address: Address
    private(set) var membership: CloudMembership
    /// One for each copy of the cloud, with which it begins.
    private(set) var clients: [CloudClient]
    private var client: CloudClient { clients[0] }
    var rng: SimulationRNG
    private(set) var session: SessionID
    private(set) var held: [MeterID: FencingToken] = [:]
    /// What this user had once, to try the door with.
    private var past: [(meter: MeterID, session: SessionID, token: FencingToken)] = []
    /// Who has which meter, as this user saw it last: what its take-overs and commands are aimed at.
    private(set) var seen: [MeterID: FencingToken] = [:]
    /// Requests without an answer, to be repeated.
    private var unanswered: [MeterID: LeaseAcquire] = [:]
    /// Requests that were answered, oldest first, to be sent once more as a network does that delivers twice.
    private var answered: [Answered] = []
    /// Meters that it left without releasing them, and never asks for again: their leases run out.
    private var abandoned: Set<MeterID> = []
    private var offered: [MeterID] = []
    /// Commands of the last minute.
    var orders: [Order] = []
    /// Meters that do not exist, and have a lease.
    var invented: [MeterID] = []
    /// Tokens with which hosts join the zone.
    let enrolments: [Secret]

    private struct Answered {
        var meter: MeterID
        var request: LeaseAcquire
        var calledAt: MonotonicTime
        var isGranted: Bool
    }

    /// Joins the cloud, and joins again with the token that it got, for another one.
    ///
    /// - Parameter enrolments: tokens with which hosts join the zone; the first gives all rights.
    package init(
        _ name: String, seed: UInt64, meters: ZoneMeters, history: LeaseHistory, address: @escaping Address,
        enrolments: [Secret], pin: CertificatePin?
    ) async throws {
        var rng = SimulationRNG(seed: seed)
        let host = HostID(using: &rng)
        session = SessionID(using: &rng)
        let urls = address() ?? []
        let first = try await CloudClient.join(
            urls: urls, token: enrolments[0], pin: pin, as: Self.introduction(host, name))
        let client = try CloudClient(first)
        try await Self.use([client])
        await client.shutdown()
        membership = try await CloudClient.join(
            urls: urls, token: enrolments[0], pin: pin, as: Self.introduction(host, name, showing: first.token))
        clients = try Self.clients(membership)
        // From its first use on, an enrolment token alone replaces a host's token no more.
        try await Self.use(clients)
        (self.name, self.host, self.rng, self.enrolments) = (name, host, rng, enrolments)
        (self.meters, self.history, self.address) = (meters, history, address)
    }

    /// Makes a first call. Where it fails, nobody keeps the clients, and each must be shut down.
    private static func use(_ clients: [CloudClient]) async throws {
        do {
            _ = try await clients[0].leases()
        } catch {
            for client in clients { await client.shutdown() }
            throw error
        }
    }

    private static func clients(_ membership: CloudMembership) throws(SyncFailure) -> [CloudClient] {
        var clients: [CloudClient] = []
        for index in membership.urls.indices {
            var own = membership
            own.urls = Array(membership.urls[index...] + membership.urls[..<index])
            clients.append(try CloudClient(own))
        }
        return clients
    }

    /// One call after the other, and the event stream beside them, until it is told to stop.
    package func run(while goesOn: @escaping @Sendable () -> Bool) async {
        await withDiscardingTaskGroup { group in
            for index in clients.indices { group.addTask { await self.listen(index) } }
            for _ in 0..<2 { group.addTask { while goesOn() { await self.order() } } }
            while goesOn() {
                await step()
                await pause(rng.milliseconds(0...80))
            }
            group.cancelAll()
        }
        for client in clients { await client.shutdown() }
    }

    private func listen(_ index: Int) async {
        while !Task.isCancelled {
            let client = clients[index]
            await withDiscardingTaskGroup { group in
                do {
                    for try await event in client.events() {
                        switch event {
                        case .offer(let meter, _): offered.append(meter)
                        case .command(let command):
                            group.addTask { await self.serve(command, offeredBy: client) }
                        default: break
                        }
                    }
                } catch {
                    // The cloud was killed, or has just started: the stream is opened again.
                }
            }
            await pause(.milliseconds(50))
        }
    }

    func pause(_ time: Duration) async {
        // Cancelled, it is over at once, which is as good.
        try? await Task.sleep(for: time)
    }

    // MARK: What it does

    private func step() async {
        await reconnectWhereItMoved()
        if let meter = offered.popLast(), held[meter] == nil, !abandoned.contains(meter) {
            return await acquire(meter)
        }
        guard let meter = rng.pick(meters.all) else { return }
        if held[meter] != nil { await use(meter) } else { await want(meter) }
    }

    private func use(_ meter: MeterID) async {
        switch rng.number(below: 10) {
        case 0..<4: await renewAll()
        case 4..<6: await release(meter)
        case 6: await acquire(meter)
        case 7: await restart()
        case 8 where meters.quiet.contains(meter):
            drop(meter)
            abandoned.insert(meter)
        default: await list()
        }
    }

    private func want(_ meter: MeterID) async {
        switch rng.number(below: 13) {
        case 0..<3 where !abandoned.contains(meter): await acquire(meter)
        case 3..<6 where !meters.quiet.contains(meter): await takeOver(meter)
        case 6 where !abandoned.contains(meter): await queue(for: meter)
        case 7: await renewOldOne()
        case 8: await releaseOldOne()
        case 9: await repeatOldOne()
        case 10 where history.leaseLimit != nil: await invent()
        case 11 where rng.happens(permille: 300): await impersonate()
        default: await list()
        }
    }

    /// As after `kill -9`: the next session takes over what the last one had.
    private func restart() async {
        let before = session
        session = SessionID(using: &rng)
        unanswered = [:]
        let meters = held.keys.sorted()
        for meter in meters { drop(meter, of: before) }
        for meter in meters { await acquire(meter, after: before) }
    }

    private func drop(_ meter: MeterID, of session: SessionID? = nil) {
        guard let token = held.removeValue(forKey: meter) else { return }
        past.append((meter, session ?? self.session, token))
        if past.count > 50 { past.removeFirst() }
    }

    // MARK: Calls

    /// Asks who has the meter, and takes it over from that one.
    private func takeOver(_ meter: MeterID) async {
        seen[meter] = nil
        await acquire(meter)
        if let token = seen[meter], held[meter] == nil { await acquire(meter, takeover: token) }
    }

    func acquire(_ meter: MeterID, takeover: FencingToken? = nil, after previous: SessionID? = nil) async {
        var request = LeaseAcquire(
            requestID: RequestID(using: &rng), host: host, hostName: name, session: session,
            previousSession: previous, timeToLive: history.terms.timeToLive, transport: .usb, takeover: takeover)
        if let before = unanswered.removeValue(forKey: meter), rng.happens(permille: 700) { request = before }
        let calledAt = history.now()
        let operation = LeaseOperation.Request.acquire(LeaseOperation.Acquire(request))
        do throws(SyncFailure) {
            let outcome = try await client.acquire(request, of: meter)
            remember(request, of: meter, since: calledAt, outcome)
            switch outcome {
            case .granted(let lease):
                history.add(operation, of: meter, since: calledAt, .granted(lease.token))
                held[meter] = lease.token
            case .refused(let reason, let lease, _):
                let sight = lease.map { LeaseOperation.Sight($0) }
                history.add(operation, of: meter, since: calledAt, .refused(reason, sight))
                seen[meter] = sight?.token
                drop(meter)
            }
        } catch {
            history.add(operation, of: meter, since: calledAt, .unknown)
            unanswered[meter] = request
            note(error)
        }
    }

    private func remember(
        _ request: LeaseAcquire, of meter: MeterID, since calledAt: MonotonicTime, _ outcome: AcquireOutcome
    ) {
        var isGranted = false
        if case .granted = outcome { isGranted = true }
        answered.append(Answered(meter: meter, request: request, calledAt: calledAt, isGranted: isGranted))
        if answered.count > 50 { answered.removeFirst() }
    }

    /// Sends a request once more, whoever was granted the meter since.
    private func repeatOldOne() async {
        let since = history.now() - LeaseTiming.repetitionAge
        let young = answered.filter {
            // What was refused may be granted now, which an earlier session could not release.
            $0.calledAt >= since && ($0.isGranted || $0.request.session == session) && !abandoned.contains($0.meter)
        }
        guard let old = rng.pick(young) else { return }
        let (meter, request) = (old.meter, old.request)
        let calledAt = history.now()
        let operation = LeaseOperation.Request.acquire(LeaseOperation.Acquire(request))
        do throws(SyncFailure) {
            switch try await client.acquire(request, of: meter) {
            case .granted(let lease):
                history.add(operation, of: meter, since: calledAt, .granted(lease.token))
                if request.session == session { held[meter] = lease.token }
            case .refused(let reason, let lease, _):
                history.add(
                    operation, of: meter, since: calledAt, .refused(reason, lease.map { LeaseOperation.Sight($0) }))
            }
        } catch {
            history.add(operation, of: meter, since: calledAt, .unknown)
            note(error)
        }
    }

    private func renewAll() async {
        let leases = held.sorted { $0.key < $1.key }.map { HeldLease(meter: $0.key, token: $0.value) }
        for meter in await renew(leases, session: session) {
            await release(meter)
            drop(meter)
        }
    }

    /// - Returns: the meters whose holder is told to stop.
    private func renew(_ leases: [HeldLease], session: SessionID) async -> [MeterID] {
        let calledAt = history.now()
        let requests = leases.map { LeaseOperation.Request.renew(session: session, token: $0.token) }
        var stops: [MeterID] = []
        do throws(SyncFailure) {
            let outcomes = try await client.renew(leases, session: session)
            for ((lease, request), outcome) in zip(zip(leases, requests), outcomes) {
                guard case .lost(let loss, _) = outcome else {
                    history.add(request, of: lease.meter, since: calledAt, .renewed)
                    continue
                }
                history.add(request, of: lease.meter, since: calledAt, .lost(loss))
                guard held[lease.meter] == lease.token else { continue }
                if loss == .revoking { stops.append(lease.meter) } else { drop(lease.meter) }
            }
        } catch {
            for (lease, request) in zip(leases, requests) {
                history.add(request, of: lease.meter, since: calledAt, .unknown)
            }
            note(error)
        }
        return stops
    }

    func release(_ meter: MeterID) async {
        guard let token = held[meter] else { return }
        drop(meter)
        await release(HeldLease(meter: meter, token: token), session: session)
    }

    private func release(_ lease: HeldLease, session: SessionID) async {
        let calledAt = history.now()
        let request = LeaseOperation.Request.release(session: session, token: lease.token)
        do throws(SyncFailure) {
            try await client.release(lease, session: session)
            history.add(request, of: lease.meter, since: calledAt, .done)
        } catch {
            history.add(request, of: lease.meter, since: calledAt, .unknown)
            note(error)
        }
    }

    private func renewOldOne() async {
        guard let old = rng.pick(past) else { return }
        _ = await renew([HeldLease(meter: old.meter, token: old.token)], session: old.session)
    }

    private func releaseOldOne() async {
        // What was abandoned is to run out.
        guard let old = rng.pick(past), !abandoned.contains(old.meter) else { return }
        await release(HeldLease(meter: old.meter, token: old.token), session: old.session)
    }

    private func list() async {
        let calledAt = history.now()
        do throws(SyncFailure) {
            for lease in try await client.leases() {
                history.add(.read, of: lease.meter, since: calledAt, .seen(LeaseOperation.Sight(lease)))
                if meters.all.contains(lease.meter), lease.holder != nil { seen[lease.meter] = lease.token }
            }
        } catch {
            note(error)
        }
    }

    private func queue(for meter: MeterID) async {
        do throws(SyncFailure) {
            try await client.enqueue(for: meter, session: session)
        } catch {
            // Refused where the event stream is not open yet.
            if error.kind != .badRequest { note(error) }
        }
    }

    // MARK: The connection

    func note(_ failure: SyncFailure) {
        switch failure.kind {
        case .network, .serviceUnavailable: break
        default: history.addSurprise("\(name): \(failure)")
        }
    }

    /// A cloud that was killed comes back on another port.
    private func reconnectWhereItMoved() async {
        var urls = address()
        while urls == nil, !Task.isCancelled {
            await pause(.milliseconds(20))
            urls = address()
        }
        guard let urls, membership.urls != urls else { return }
        for client in clients { await client.shutdown() }
        membership.urls = urls
        do throws(SyncFailure) {
            clients = try Self.clients(membership)
        } catch {
            history.addSurprise("\(name): \(error)")
        }
    }
}

/// The meters of one zone.
package struct ZoneMeters: Sendable {
    /// Nobody takes these over, and hosts leave them without a word.
    package var quiet: Set<MeterID>
    package var all: [MeterID]

    /// - Parameters:
    ///   - zone: makes the ids those of one zone.
    ///   - generation: so that a long run has histories of a length that can be judged.
    package init(zone: UInt8, generation: Int = 0) {
        all = (1...5).map { .usb(vendor: 0x0483, product: UInt16(zone), serial: "\(generation)-\($0)") }
        quiet = Set(all.prefix(2))
    }
}

extension LeaseOperation.Acquire {
    /// What of a request decides about it.
    package init(_ request: LeaseAcquire) {
        self.init(
            requestID: request.requestID, host: request.host, session: request.session,
            previousSession: request.previousSession, takeover: request.takeover)
    }
}

extension LeaseOperation.Sight {
    /// An id that nobody ever had has the token 0.
    package init(_ lease: LeaseView) {
        self.init(holder: lease.holder, token: lease.token.rawValue == 0 ? nil : lease.token)
    }
}
