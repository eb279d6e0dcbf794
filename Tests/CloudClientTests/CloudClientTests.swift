import Cloud
import CloudAPI
import CloudClient
import CloudServer
import CoreTestKit
import Domain
import Gateway
import MeterTestKit
import ServerKit
import Testing

/// Records, leases and events against a real server.
@Suite(.timeLimit(.minutes(10)))
struct CloudClientTests {
    private static let hostA = HostID(high: 0xA, low: 1)
    private static let hostB = HostID(high: 0xB, low: 1)
    private let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))

    /// A cloud with two hosts in it.
    private func withHosts(_ body: @Sendable (LocalCloud, CloudClient, CloudClient) async throws -> Void) async throws {
        try await withCloud { cloud in
            let a = try await cloud.client("pi-a", host: Self.hostA)
            try await closing(a) {
                let b = try await cloud.client("pi-b", host: Self.hostB)
                try await closing(b) { try await body(cloud, a, b) }
            }
        }
    }

    private func failure(_ body: () async throws -> Void) async throws -> SyncFailure {
        do {
            try await body()
        } catch {
            return try #require(error as? SyncFailure)
        }
        throw SyncFailure(.other, "nothing was thrown")
    }

    /// meterd may be stopped before it uses a membership. AsyncHTTPClient ends a debug build over an open client.
    @Test func clientThatNobodyShutDown_closesItself() throws {
        let membership = CloudMembership(urls: ["https://pi:8643"], zone: "home", token: Secret("mgt_t"), pin: nil)
        var client: CloudClient? = try CloudClient(membership)
        weak var dropped: CloudClient?
        dropped = client
        client = nil
        #expect(dropped == nil)
    }

    @Test func hostThatMayOnlyLook_learnsIt_andIsRefusedInWordsThatHelp() async throws {
        let meter = meter
        try await withCloud { cloud in
            var rng = SystemRandomNumberGenerator()
            let token = BearerToken(using: &rng)
            _ = try await cloud.service.addCredential(.host, .readOnly, label: "t", hash: token.hash, in: "home")
            let membership = try await cloud.join(cloud.request("page", host: Self.hostA), token: Secret(token.text))
            let client = try CloudClient(membership, patience: .loaded)
            try await closing(client) {
                #expect(try await client.account().role == .readOnly)
                let own = SyncRecord(
                    key: RecordKey(type: .host, name: Self.hostA.description),
                    properties: record("x", .int(1)).properties)
                let outcome = try await client.modify(
                    OutboxBatch(records: [own, record("AA:BB:CC:DD:EE:FF", .int(1))]))
                #expect(outcome.results.map(\.failure?.kind) == [nil, .readOnly])
                #expect(try await client.changes(of: .host, since: nil, limit: 9).records == [own])
                #expect(try await client.leases() == [])

                let acquire = LeaseAcquire(
                    requestID: .numbered(1), host: Self.hostA, hostName: "page", session: .numbered(1),
                    timeToLive: .seconds(120), transport: .usb)
                let calls: [() async throws -> Void] = [
                    { _ = try await client.acquire(acquire, of: meter) },
                    { try await client.enqueue(for: meter, session: .numbered(1)) },
                    { _ = try await client.retire("bench") },
                    {
                        _ = try await client.command(.numbered(2), .stopRecording, of: meter, token: .init(rawValue: 1))
                    },
                ]
                for call in calls {
                    let failure = try await failure(call)
                    #expect(failure.kind == .readOnly)
                    #expect(failure.message.contains("metercloud token create"))
                }
            }
        }
    }

    @Test func portThatNobodyServes_isSaidInTheSystemsWords() async throws {
        let failure = try await failure {
            // No program listens on the port of the old "discard".
            _ = try await CloudClient.join(
                urls: ["https://127.0.0.1:9"], token: Secret("t"), pin: nil,
                as: JoinRequest(hostID: "\(Self.hostA)", hostName: "pi", machine: "m"))
        }
        #expect(failure.kind == .network)
        #expect(failure.message == "https://127.0.0.1:9 cannot be reached: Connection refused")
    }

    // MARK: - Records

    private func record(_ name: String, _ value: SettingValue, ahead: UInt64 = 0, by host: HostID = hostA) -> SyncRecord
    {
        let stamp = Stamp(
            milliseconds: UInt64(LocalCloud.now.millisecondsSince1970) + ahead, counter: 0, host: host)
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["name": Register(value: value, stamp: stamp)])
    }

    private func names(_ count: Int) -> [String] {
        (0..<count).map { MeterID.mac(MACAddress(bits: 0x0200_0000_0000 + UInt64($0))).description }
    }

    @Test func changes_areReadPageByPage_byTheOtherHost() async throws {
        try await withHosts { _, a, b in
            let sent = names(5).map { record($0, .string($0)) }
            let outcome = try await a.modify(OutboxBatch(records: sent))
            #expect(outcome.results == sent.map { PushResult(key: $0.key) })
            #expect(outcome.serverTime == UInt64(LocalCloud.now.millisecondsSince1970))

            var got: [SyncRecord] = []
            var token: String?
            var pages = 0
            while true {
                let page = try await b.changes(of: .deviceSettings, since: token, limit: 2)
                got += page.records
                token = page.token
                pages += 1
                if !page.moreComing { break }
            }

            #expect(pages == 3)
            #expect(got == sent)
            let after = try await b.changes(of: .deviceSettings, since: token, limit: 2)
            #expect(after.records.isEmpty && !after.moreComing)
            #expect(try await b.changes(of: .host, since: nil, limit: 2).records.isEmpty)
        }
    }

    @Test func modify_saysWhatBecameOfEachRecord() async throws {
        try await withHosts { _, a, b in
            let name = meter.description
            _ = try await b.modify(OutboxBatch(records: [record(name, .string("B"), ahead: 1, by: Self.hostB)]))

            let outcome = try await a.modify(
                OutboxBatch(records: [
                    record(name, .string("A")), record(names(1)[0], .string("far"), ahead: 3_600_000),
                    record("no meter", .string("x")),
                ]))

            #expect(outcome.results.map(\.failure?.kind) == [nil, .clockSkew, .badRequest])
            #expect(outcome.results[0].merged == record(name, .string("B"), ahead: 1, by: Self.hostB))
            #expect(outcome.results[2].failure?.message.contains("no meter") == true)
        }
    }

    @Test func changes_throw_whenTheTokenIsOfAnotherStore() async throws {
        try await withHosts { cloud, a, _ in
            let failure = try await failure {
                _ = try await a.changes(of: .deviceSettings, since: "v1.older.7", limit: 400)
            }

            guard case .changeTokenExpired(let epoch, zoneID: _) = failure.kind, try await epoch == cloud.engine.epoch
            else {
                Issue.record("\(failure.kind)")
                return
            }
        }
    }

    @Test func zone_isThere_orIsMade_butNobodyElses() async throws {
        try await withHosts { _, a, _ in
            try await a.createZone(LocalCloud.zone, id: nil)

            let failure = try await failure { try await a.createZone("office", id: nil) }
            #expect(failure.kind == .permissionDenied)
        }
    }

    // MARK: - Leases

    private func wish(_ session: SessionID, takeover: FencingToken? = nil, request: UInt64 = 1) -> LeaseAcquire {
        LeaseAcquire(
            requestID: RequestID(high: session.high, low: request), host: Self.hostA, hostName: "ignored",
            session: session, timeToLive: .seconds(120), transport: .usb, takeover: takeover)
    }

    private let sessionA = SessionID(high: 0xA, low: 2)
    private let sessionB = SessionID(high: 0xB, low: 2)

    @Test func lease_isGranted_renewed_andReleased() async throws {
        try await withHosts { _, a, b in
            guard case .granted(let lease) = try await a.acquire(wish(sessionA), of: meter) else {
                Issue.record("not granted")
                return
            }
            #expect(lease.holder == Self.hostA)
            #expect(lease.holderName == "pi-a")
            #expect(lease.transport == .usb)
            #expect(lease.remaining == .seconds(120))
            #expect(try await b.leases() == [lease])

            let held = HeldLease(meter: meter, token: lease.token)
            let stranger = HeldLease(meter: .mac(MACAddress(bits: 0x0200_0000_0001)), token: lease.token)
            #expect(
                try await a.renew([held, stranger], session: sessionA) == [.renewed(lease), .lost(.unknown, nil)])

            try await a.release(held, session: sessionA)
            try await a.release(held, session: sessionA)
            #expect(try await b.leases().isEmpty)
            guard case .lost(.released, _)? = try await a.renew([held], session: sessionA).first else {
                Issue.record("a lease that was released was renewed")
                return
            }
        }
    }

    @Test func lease_isRefused_whileAnotherHostHasIt_whoIsNamed() async throws {
        try await withHosts { _, a, b in
            guard case .granted(let lease) = try await a.acquire(wish(sessionA), of: meter) else {
                Issue.record("not granted")
                return
            }

            let refused = try await b.acquire(wish(sessionB), of: meter)

            #expect(refused == .refused(.held, lease, retryAfter: .seconds(135)))
        }
    }

    @Test func takeOver_isSeenByTheLoser_atItsNextRenewal() async throws {
        try await withHosts { _, a, b in
            guard case .granted(let lease) = try await a.acquire(wish(sessionA), of: meter),
                case .granted(let taken) = try await b.acquire(wish(sessionB, takeover: lease.token), of: meter)
            else {
                Issue.record("not granted")
                return
            }
            #expect(taken.token > lease.token)

            let renewed = try await a.renew([HeldLease(meter: meter, token: lease.token)], session: sessionA)

            var seen = taken
            #expect(!taken.isOldHolderTold, "it has no event stream")
            seen.isOldHolderTold = true
            #expect(renewed == [.lost(.takenOver, seen)])
        }
    }

    @Test func renewal_ofNothing_asksNobody() async throws {
        let nobody = try CloudClient(
            CloudMembership(urls: ["http://127.0.0.1:1"], zone: "home", token: Secret("mgt_x"), pin: nil))

        try await closing(nobody) {
            let outcomes = try await nobody.renew([], session: sessionA)

            #expect(outcomes.isEmpty)
        }
    }

    // MARK: - Events

    @Test func events_tellOfLeases_changes_andOffers() async throws {
        try await withHosts { _, a, b in
            var events = b.events().makeAsyncIterator()
            #expect(try await events.next() == .opened)
            #expect(try await events.next() == .ping(serverTime: UInt64(LocalCloud.now.millisecondsSince1970)))

            guard case .granted(let lease) = try await a.acquire(wish(sessionA), of: meter) else {
                Issue.record("not granted")
                return
            }
            #expect(try await events.next() == .lease(lease))

            _ = try await a.modify(OutboxBatch(records: [record(meter.description, .string("Bench"))]))
            #expect(try await events.next() == .changed(types: [.deviceSettings], host: Self.hostA))

            try await b.enqueue(for: meter, session: sessionB)
            guard case .lease(let waited)? = try await events.next() else {
                Issue.record("nobody heard of who waits")
                return
            }
            #expect(waited.waiting == ["pi-b"])

            try await a.release(HeldLease(meter: meter, token: lease.token), session: sessionA)
            var offer: CloudEvent?
            while offer == nil, let event = try await events.next() {
                if case .offer = event { offer = event }
            }
            #expect(offer == .offer(meter: meter, reserved: .seconds(10)))
        }
    }

    @Test func queue_isLeft_whenAsked() async throws {
        try await withHosts { _, a, b in
            var events = b.events().makeAsyncIterator()
            #expect(try await events.next() == .opened)
            #expect(try await events.next() != nil)
            _ = try await a.acquire(wish(sessionA), of: meter)
            try await b.enqueue(for: meter, session: sessionB)
            #expect(try await a.leases().map(\.waiting) == [["pi-b"]])

            try await b.leaveQueue(for: meter, session: sessionB)

            #expect(try await a.leases().map(\.waiting) == [[]])
        }
    }

    @Test func queue_isRefused_whereNoStreamIsOpen() async throws {
        try await withHosts { _, _, b in
            let failure = try await failure { try await b.enqueue(for: meter, session: sessionB) }
            #expect(failure.kind == .badRequest)
        }
    }

    @Test func events_endWithAnError_whenTheServerStops() async throws {
        try await withHosts { cloud, a, _ in
            var events = a.events().makeAsyncIterator()
            #expect(try await events.next() == .opened)

            await cloud.service.shutdown()

            let failure = try await failure { while try await events.next() != nil {} }
            #expect(failure.kind == .network)
        }
    }
}
