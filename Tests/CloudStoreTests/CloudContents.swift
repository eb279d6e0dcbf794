import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import MeterTestKit
import Testing

extension CloudContents {
    /// Opens a store, reads all of it, checks it, and closes it.
    init(at directory: String, _ folder: TemporaryFolder) async throws {
        let engine = try folder.openCloud(directory)
        #expect(try await engine.check() == [])
        self = try await CloudContents(of: engine)
        for zone in zones { try await engine.expectWholeFeed(of: zone) }
        try engine.close()
    }
}

extension SQLiteCloudEngine {
    /// Nothing is in the feed twice, and nothing is missing.
    func expectWholeFeed(of zone: Zone) async throws {
        let records = try await records(in: zone.name, type: nil)
        for type in Set(records.map(\.key.type)) {
            let page = try await changes(of: type, in: zone.name, after: nil, limit: 100_000)
            let names = page.records.map(\.key.name).sorted()
            #expect(names == records.filter { $0.key.type == type }.map(\.key.name).sorted())
            #expect(page.token.sequence == zone.sequence)
        }
    }
}

/// What the tests of this target write.
enum Sample {
    static let now = WallTime(millisecondsSince1970: 1_795_000_000_000)
    static let meter = "AA:BB:CC:DD:EE:FF"

    static func stamp(_ after: Int64 = 0) -> Stamp {
        Stamp(milliseconds: UInt64(now.millisecondsSince1970 + after), counter: 0, host: .numbered(1))
    }

    static func record(_ name: String, value: Int64 = 1, after: Int64 = 0) -> SyncRecord {
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["name": Register(value: .int(value), stamp: stamp(after))])
    }

    static func tombstone(_ name: String, after: Int64 = 0) -> SyncRecord {
        SyncRecord(key: RecordKey(type: .deviceSettings, name: name), deletion: Deletion(stamp: stamp(after)))
    }

    static func credential(_ id: String, bound host: UInt64? = nil) -> Credential {
        var credential = Credential(
            id: id, hash: Array(id.utf8), zone: "home", kind: .host, label: id, createdAt: now)
        credential.binding = host.map { binding($0) }
        return credential
    }

    static func binding(_ host: UInt64) -> Credential.Binding {
        Credential.Binding(host: .numbered(host), hostName: "Host \(host)", machine: "machine \(host)")
    }

    static func acquire(_ host: UInt64, previous: UInt64? = nil) -> LeaseAcquire {
        LeaseAcquire(
            requestID: .numbered(host), host: .numbered(host), hostName: "Host \(host)", session: .numbered(host),
            previousSession: previous.map { .numbered($0) }, timeToLive: .seconds(120), transport: .usb)
    }
}

extension SQLiteCloudEngine {
    /// What the cloud does for an acquire.
    func acquire(
        _ request: LeaseAcquire, takesOver: Bool = false, meter: String = Sample.meter,
        at now: MonotonicTime = .origin
    ) async throws -> LeaseAnswer {
        let limits = try await leaseLimits(at: now)
        return try await decideLease(of: meter, in: "home") { lease in
            var request = request
            // From whoever has it.
            if takesOver { request.takeover = lease.record?.token }
            return LeaseRules.acquire(
                request, of: lease,
                in: LeaseCircumstances(
                    now: now, wallNow: Sample.now, terms: .standard,
                    grantsNothingNewBefore: limits.grantsNothingNewBefore, tokenFloor: limits.tokenFloor))
        }
    }

    func release(_ token: FencingToken, session: UInt64, meter: String = Sample.meter) async throws {
        _ = try await decideLease(of: meter, in: "home") {
            LeaseRules.release(token, session: .numbered(session), of: $0)
        }
    }
}

extension LeaseAnswer {
    var token: FencingToken? {
        if case .granted(let record) = self { record.token } else { nil }
    }

    var reason: Refusal.Reason? {
        if case .refused(let refusal) = self { refusal.reason } else { nil }
    }
}
