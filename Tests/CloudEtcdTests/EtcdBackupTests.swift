import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import CloudEtcd

/// Backups of a cloud in etcd by the cloud itself.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdBackupTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func record(_ number: Int) -> SyncRecord {
        let stamp = Stamp(milliseconds: 1_795_000_000_000, counter: 0, host: .numbered(1))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "m\(number)"),
            properties: ["name": Register(value: .string("Meter \(number)"), stamp: stamp)])
    }

    private func backup(of engine: EtcdCloudEngine) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await EtcdBackup.write(of: engine, at: now) { bytes += $0 }
        return bytes
    }

    private func restore(
        _ bytes: [UInt8], to settings: EtcdSettings, at time: WallTime? = nil, ignoresClock: Bool = false
    ) async throws -> EtcdRestore {
        var rng = SystemRandomNumberGenerator()
        return try await read(bytes).restore(
            to: settings, at: time ?? now, ignoresClock: ignoresClock, clock: .real, rng: &rng, logger: LogBook().logger
        )
    }

    private func read(_ bytes: [UInt8]) throws -> EtcdBackup {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: folder.path + "/backup.etcd")
        return try EtcdBackup(path: folder.path + "/backup.etcd")
    }

    private func acquire(_ engine: EtcdCloudEngine, _ host: UInt64) async throws -> LeaseAnswer {
        let limits = try await engine.leaseLimits(at: .origin)
        let request = LeaseAcquire(
            requestID: .numbered(host), host: .numbered(host), hostName: "host \(host)", session: .numbered(host),
            previousSession: nil, timeToLive: .seconds(120), transport: .ble, policy: .keep)
        let circumstances = LeaseCircumstances(
            now: .origin, wallNow: now, terms: .standard, grantsNothingNewBefore: limits.grantsNothingNewBefore,
            tokenFloor: limits.tokenFloor)
        return try await engine.decideLease(of: "m", in: zone) {
            LeaseRules.acquire(request, of: $0, in: circumstances)
        }
    }

    @Test func restoredCloud_hasTheRecords_anotherEpoch_greaterTokens_andNothingOfRunningCopies() async throws {
        let (server, other) = (try EtcdServer.started(), try EtcdServer.started())
        let engine = try await EtcdCloudEngine.open(server.settings)
        let id = try await engine.createZone(zone, terms: .standard).id
        _ = try await engine.modify((0..<50).map(record), in: zone, now: now)
        guard case .granted(let lease) = try await acquire(engine, 1) else { return }
        var running = EtcdTransaction()
        let keys = engine.keys
        running.success = [
            .put(key: keys.copiesKey, value: [1]), .put(key: keys.copy(.numbered(1)), value: [1]),
            .put(key: keys.queue(at: MeterPlace(zone: zone, meter: "m")), value: [1]),
            .put(key: keys.pulse(of: "m", in: zone), value: []),
        ]
        _ = try await engine.client.commit(running)

        let bytes = try await backup(of: engine)
        let report = try await restore(bytes, to: other.settings)

        #expect(report.leases == 1)
        let restored = try await EtcdCloudEngine.open(other.settings)
        #expect(restored.epoch == report.epoch)
        #expect(restored.epoch != engine.epoch)
        #expect(try await restored.zone(zone)?.id == id)
        #expect(try await restored.records(in: zone, type: nil).count == 50)
        #expect(try await restored.records(in: zone, type: nil) == engine.records(in: zone, type: nil))
        guard case .refused = try await acquire(restored, 2) else {
            Issue.record("granted while the former holder may have it")
            return
        }
        #expect(report.tokenFloor > lease.token.rawValue)
        for key in [keys.copiesKey, keys.backup] {
            #expect(try await restored.client.read([EtcdRange(key: key)]).ranges[0].entries.isEmpty)
        }
        for kind in [keys.allCopies, keys.allQueues, keys.pulses(in: zone)] {
            #expect(try await restored.client.read([EtcdRange(prefix: kind)]).ranges[0].entries.isEmpty)
        }
        // Over a cloud, nothing is restored.
        let error = await #expect(throws: EtcdError.self) { _ = try await restore(bytes, to: other.settings) }
        #expect(error?.message.contains("etcd has a cloud under the prefix") == true)
        await engine.close()
        await restored.close()
    }

    /// All reads are at one revision: what is written meanwhile is in no part of the copy.
    @Test func backup_isOfOneRevision_whateverIsWrittenMeanwhile() async throws {
        let server = try EtcdServer.started()
        let engine = try await EtcdCloudEngine.open(server.settings)
        _ = try await engine.createZone(zone, terms: .standard)
        // More than a page of records.
        for batch in 0..<6 {
            _ = try await engine.modify((0..<400).map { record(batch * 400 + $0) }, in: zone, now: now)
        }
        let writer = Task {
            var number = 10_000
            while !Task.isCancelled {
                _ = try await engine.modify([record(number)], in: zone, now: now)
                number += 1
            }
        }
        let bytes = try await backup(of: engine)
        writer.cancel()
        _ = try? await writer.value

        var counts: [String: Int] = [:]
        for entry in try read(bytes).entries {
            counts[String(decoding: entry.key.prefix(2), as: UTF8.self), default: 0] += 1
        }
        #expect(counts["r/"] == counts["x/"])
        #expect(counts["r/"] ?? 0 >= 2400)
        await engine.close()
    }

    @Test func brokenFile_isRefused_beforeAnythingChanges_andAClockThatIsBehindToo() async throws {
        let server = try EtcdServer.started()
        let engine = try await EtcdCloudEngine.open(server.settings)
        _ = try await engine.createZone(zone, terms: .standard)
        let bytes = try await backup(of: engine)
        await engine.close()
        let other = try EtcdServer.started()
        var flipped = bytes
        flipped[bytes.count / 2] ^= 1
        for broken in [
            [], Array(bytes.dropLast(1)), Array(bytes.dropFirst(1)), flipped, bytes + bytes, Array("x\n".utf8),
        ] {
            let error = await #expect(throws: EtcdError.self) { _ = try await restore(broken, to: other.settings) }
            #expect(error?.code == .damaged)
        }
        let early = now + .seconds(-1)
        let error = await #expect(throws: EtcdError.self) {
            _ = try await restore(bytes, to: other.settings, at: early)
        }
        #expect(error?.message.contains("--ignore-clock") == true)
        #expect(
            try await restore(bytes, to: other.settings, at: early, ignoresClock: true).tokenFloor
                == FencingToken.floor(ofRestoreAt: now).rawValue)
    }

    /// Of three copies that find a backup due, one writes it. Where it does not finish, another does an hour later.
    @Test func oneCopy_takesTheTurn() async throws {
        let server = try EtcdServer.started()
        var copies: [EtcdCloudEngine] = []
        for _ in 0..<3 { copies.append(try await EtcdCloudEngine.open(server.settings)) }
        func takers(at seconds: Int) async throws -> Int {
            try await withThrowingTaskGroup(of: Bool.self) { [copies, now] group in
                for copy in copies {
                    group.addTask { try await copy.takeBackup(every: .seconds(86_400), at: now + .seconds(seconds)) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        #expect(try await copies[0].lastBackup() == nil)
        #expect(try await takers(at: 0) == 1)
        #expect(try await takers(at: 3599) == 0)
        #expect(try await takers(at: 3600) == 1)
        try await copies[1].keepBackup(at: now + .seconds(3600))
        #expect(try await copies[2].lastBackup() == now + .seconds(3600))
        #expect(try await takers(at: 3600 + 86_399) == 0)
        #expect(try await takers(at: 3600 + 86_400) == 1)
        // Begun, and not good yet.
        #expect(try await copies[2].lastBackup() == now + .seconds(3600))
        for copy in copies { await copy.close() }
    }
}
