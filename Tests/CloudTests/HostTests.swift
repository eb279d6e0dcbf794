import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Testing

/// Who may use a cloud, and for what.
struct HostTests {
    @Test func authenticate_refuses_whenUnknownOrRevoked() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)

        _ = await expectFailure(.notAuthenticated) { try await cloud.service.authenticate(hash: [9]) }
        try await cloud.service.revokeCredential(host.credential.id)

        _ = await expectFailure(.notAuthenticated) { try await cloud.service.authenticate(hash: [1]) }
    }

    @Test func retiredHost_isShutOut_andItsMeterIsFree() async throws {
        let cloud = try await TestCloud()
        let (gone, other) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await cloud.acquire(gone)
        #expect(try await cloud.service.hosts(in: "home").map(\.name) == ["Host 1", "Host 2"])

        let body = try await cloud.service.retire("Host 1", in: "home", by: other)

        #expect(body.tokens == 1 && body.leases == [TestCloud.meter])
        _ = await expectFailure(.notAuthenticated) { try await cloud.service.authenticate(hash: [1]) }
        #expect(try await cloud.acquire(other, session: 2, request: 2).holderName == "Host 2")
        #expect(try await cloud.service.hosts(in: "home").map(\.name) == ["Host 2"])
        _ = await expectFailure(.notFound) { try await cloud.service.retire("Host 1", in: "home", by: other) }
        _ = await expectFailure(.badRequest) { try await cloud.service.retire("Host 2", in: "home", by: other) }
    }

    /// Nobody knows whether it still uses its meter.
    @Test func retiredHost_keepsItsMeterUntilItsLeaseIsOver_underStrict() async throws {
        let cloud = try await TestCloud(policy: .strict)
        let (gone, other) = (try await cloud.join(1), try await cloud.join(2))
        _ = try await cloud.acquire(gone)

        _ = try await cloud.service.retire(HostID.numbered(1).description, in: "home")

        _ = await expectFailure(.leaseHeld) { try await cloud.acquire(other, session: 2, request: 2) }
        cloud.time.advance(by: .seconds(136))
        #expect(try await cloud.acquire(other, session: 2, request: 3).holderName == "Host 2")
    }

    @Test func deletedRecord_isATombstone_newerThanWhatWasInIt() async throws {
        let cloud = try await TestCloud()
        let key = RecordKey(type: .deviceSettings, name: TestCloud.meter)
        let ahead = UInt64(cloud.time.wallNow.millisecondsSince1970) + 30_000
        let stamp = Stamp(milliseconds: ahead, counter: 3, host: .numbered(1))
        let record = SyncRecord(key: key, properties: ["name": Register(value: .string("Slip"), stamp: stamp)])
        _ = try await cloud.engine.modify([record], in: "home", now: cloud.time.wallNow)

        _ = try await cloud.service.deleteRecord(type: "DeviceSettings", name: key.name, in: "home")

        #expect(try await cloud.engine.record(key, in: "home")?.isTombstone == true)
        _ = await expectFailure(.notFound) {
            try await cloud.service.deleteRecord(type: "DeviceSettings", name: key.name, in: "home")
        }
    }

    @Test func account_saysWhoIsAsking() async throws {
        let cloud = try await TestCloud(policy: .strict)
        let host = try await cloud.join(1)

        let account = try await cloud.service.account(of: host)

        var expected = AccountBody(
            zone: "home", hostID: HostID.numbered(1).description, hostName: "Host 1",
            serverTime: cloud.time.wallNow.millisecondsSince1970, epoch: try await cloud.engine.epoch, policy: "strict",
            zoneID: try await cloud.engine.zone("home")?.id.description)
        expected.role = "full"
        #expect(account == expected)
    }

    @Test func hostsThatJoinWithAReadOnlyToken_mayOnlyLook() async throws {
        let cloud = try await TestCloud()
        let (looker, other) = (try await cloud.join(1, as: .readOnly), try await cloud.join(2))

        #expect(looker.credential.role == .readOnly && looker.credential.kind == .host)
        #expect(try await cloud.service.account(of: looker).role == "readOnly")
        _ = await expectFailure(.readOnly) { try looker.checkMayChange() }
        try other.checkMayChange()
        #expect(try await cloud.service.hosts(in: "home").map(\.role) == ["readOnly", "full"])
    }

    /// A host's own read-only token, and joining again with it.
    @Test func hostKeepsItsRole_whenItJoinsAgainWithItsOwnToken() async throws {
        let cloud = try await TestCloud()
        _ = try await cloud.service.addCredential(.host, .readOnly, label: "page", hash: [7], in: "home")
        for name in ["Page", "Page 2"] {
            let request = JoinRequest(hostID: HostID.numbered(7).description, hostName: name, machine: "m7")
            let shown = try await cloud.service.authenticate(hash: [7])
            _ = try await cloud.service.join(request, by: shown, newToken: (text: "unused", hash: [8]))
        }

        let host = try await cloud.service.authenticate(hash: [7])

        #expect(host.credential.role == .readOnly)
        #expect(try await cloud.service.account(of: host).hostName == "Page 2")
    }

    /// The role goes with the token, so the host's next one may be of another.
    @Test func hostGetsAnotherRole_withAnotherToken() async throws {
        let cloud = try await TestCloud()
        let looker = try await cloud.join(1, as: .readOnly)
        let enrolment = try await cloud.service.authenticate(hash: [0])
        let request = JoinRequest(hostID: HostID.numbered(1).description, hostName: "Host 1", machine: "machine 1")

        _ = try await cloud.service.join(
            request, by: enrolment, newToken: (text: "t", hash: [101]), showing: [looker.credential.hash])

        try await cloud.service.authenticate(hash: [101]).checkMayChange()
        _ = await expectFailure(.notAuthenticated) {
            try await cloud.service.authenticate(hash: looker.credential.hash)
        }
        #expect(try await cloud.service.hosts(in: "home").map(\.role) == ["full"])
    }

    @Test func join_bindsTheHostsOwnToken() async throws {
        let cloud = try await TestCloud()
        _ = try await cloud.service.addCredential(.host, label: "bench", hash: [7], in: "home")
        let unbound = try await cloud.service.authenticate(hash: [7])
        let request = JoinRequest(hostID: HostID.numbered(7).description, hostName: "Bench", machine: "m7")

        _ = await expectFailure(.permissionDenied) { try await cloud.service.account(of: unbound) }
        let answer = try await cloud.service.join(request, by: unbound, newToken: (text: "unused", hash: [8]))

        #expect(answer == JoinAnswer(zone: "home", token: nil))
        let bound = try await cloud.service.authenticate(hash: [7])
        #expect(try await cloud.service.account(of: bound).hostName == "Bench")
    }

    @Test func join_refusesACopiedHost_untilTheOriginalIsRevoked() async throws {
        let cloud = try await TestCloud()
        let original = try await cloud.join(1)

        let enrolment = try await cloud.service.authenticate(hash: [0])
        let request = JoinRequest(hostID: HostID.numbered(1).description, hostName: "New machine", machine: "copy")
        _ = await expectFailure(.duplicateHost) {
            try await cloud.service.join(request, by: enrolment, newToken: (text: "t", hash: [55]))
        }
        try await cloud.service.revokeCredential(original.credential.id)
        let answer = try await cloud.service.join(request, by: enrolment, newToken: (text: "t", hash: [55]))

        #expect(answer.token == "t")
    }

    /// The answer to the first was lost, so nobody has that token.
    @Test func join_replacesAnUnusedToken_ofTheSameEnrolment() async throws {
        let cloud = try await TestCloud()
        let enrolment = try await cloud.service.authenticate(hash: [0])
        let request = JoinRequest(hostID: HostID.numbered(1).description, hostName: "Host 1", machine: "machine 1")
        for hash in [100, 101] as [UInt8] {
            _ = try await cloud.service.join(request, by: enrolment, newToken: (text: "t", hash: [hash]))
        }

        _ = await expectFailure(.notAuthenticated) { try await cloud.service.authenticate(hash: [100]) }
        #expect(try await cloud.service.authenticate(hash: [101]).credential.binding?.host == .numbered(1))
    }

    /// Everything that another host could know is given: the id and the machine's digest. Neither is a secret.
    @Test func join_endsNoTokenThatIsInUse_norOneOfMoreRights() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        _ = try await cloud.join(2, as: .readOnly)
        let request = JoinRequest(hostID: HostID.numbered(1).description, hostName: "Host 1", machine: "machine 1")
        for enrolment in [[0], [0, 0]] as [[UInt8]] {
            let shown = try await cloud.service.authenticate(hash: enrolment)
            let failure = await expectFailure(.permissionDenied) {
                try await cloud.service.join(request, by: shown, newToken: (text: "t", hash: [101]))
            }
            #expect(failure?.message.contains("metercloud token revoke \(host.credential.id)") == true)
        }

        #expect(try await cloud.service.account(of: cloud.service.authenticate(hash: [1])).hostName == "Host 1")
    }

    @Test(
        arguments: [
            JoinRequest(hostID: "no-uuid", hostName: "a", machine: "m"),
            JoinRequest(hostID: HostID.numbered(1).description, hostName: "", machine: "m"),
            JoinRequest(hostID: HostID.numbered(1).description, hostName: "a\u{1b}[2J", machine: "m"),
            JoinRequest(hostID: HostID.numbered(1).description, hostName: "a", machine: ""),
            JoinRequest(
                hostID: HostID.numbered(1).description, hostName: String(repeating: "ü", count: 65), machine: "m"),
        ])
    func join_refuses_whatIsNoHost(request: JoinRequest) async throws {
        let cloud = try await TestCloud()
        let enrolment = try await cloud.service.authenticate(hash: [0])

        _ = await expectFailure(.badRequest) {
            try await cloud.service.join(request, by: enrolment, newToken: (text: "t", hash: [1]))
        }
    }

    @Test func everyCall_isRefused_inAnotherZone_orWithAnEnrolmentToken() async throws {
        let cloud = try await TestCloud()
        let service = cloud.service
        _ = try await service.createZone("other", terms: .standard)
        let (host, enrolment) = (try await cloud.join(1), try await service.authenticate(hash: [0]))
        let acquire = AcquireRequest(
            requestID: RequestID.numbered(1).description, session: SessionID.numbered(1).description, transport: "usb")
        let session = SessionID.numbered(1).description
        let meter = TestCloud.meter

        for (zone, principal) in [("other", host), ("home", enrolment)] {
            let calls: [() async throws -> Void] = [
                { try await service.createZone(zone, by: principal) },
                { _ = try await service.modify(ModifyRequest(records: []), in: zone, by: principal) },
                { _ = try await service.changes(type: "Host", since: nil, limit: nil, in: zone, by: principal) },
                { _ = try await service.leases(in: zone, by: principal) },
                { _ = try await service.acquire(acquire, meter: meter, in: zone, by: principal) },
                { _ = try await service.renew(RenewRequest(session: session, leases: []), in: zone, by: principal) },
                {
                    let body = ReleaseRequest(session: session, token: 1)
                    _ = try await service.release(body, meter: meter, in: zone, by: principal)
                },
                { _ = try await service.revoke(meter: meter, in: zone, by: principal) },
                { _ = try await service.enqueue(meter: meter, in: zone, by: principal) },
                { _ = try await service.leaveQueue(meter: meter, in: zone, by: principal) },
                { _ = try await service.events(in: zone, by: principal) },
            ]
            for call in calls { _ = await expectFailure(.permissionDenied) { try await call() } }
        }
    }

    @Test func failures_ofTheEngine_areToldAsTheyAre_andSurprisesAreNot() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)

        cloud.engine.fail(with: CloudFailure(.serviceUnavailable, "the disk is full", retryAfter: .seconds(10)))

        let failure = await expectFailure(.serviceUnavailable) { try await cloud.service.account(of: host) }
        #expect(failure?.content.retryAfter == 10)
    }

    @Test(arguments: ["", "Home", "a b", "../x", String(repeating: "a", count: 65), "ü"])
    func zone_isRefused_whenItsNameIsNone(name: String) async throws {
        let cloud = try await TestCloud()

        _ = await expectFailure(.badRequest) { try await cloud.service.createZone(name, terms: .standard) }
    }
}
