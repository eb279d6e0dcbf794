import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import CloudEtcd

/// A store that was restored from a snapshot, as `etcdctl` leaves it: here one that was simply stopped.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdRestoreTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func acquire(_ engine: EtcdCloudEngine, _ host: UInt64, at time: MonotonicTime) async throws -> LeaseAnswer
    {
        let limits = try await engine.leaseLimits(at: time)
        let request = LeaseAcquire(
            requestID: .numbered(host), host: .numbered(host), hostName: "host \(host)", session: .numbered(host),
            previousSession: nil, timeToLive: .seconds(120), transport: .ble, policy: .keep)
        let circumstances = LeaseCircumstances(
            now: time, wallNow: now, terms: .standard, grantsNothingNewBefore: limits.grantsNothingNewBefore,
            tokenFloor: limits.tokenFloor)
        return try await engine.decideLease(of: "m", in: zone) {
            LeaseRules.acquire(request, of: $0, in: circumstances)
        }
    }

    @Test func restoredStore_hasAnotherEpoch_greaterTokens_andWaits() async throws {
        let server = try EtcdServer()
        try server.start()
        let before = try await EtcdCloudEngine.open(server.settings)
        _ = try await before.createZone(zone, terms: .standard)
        let token = ChangeToken(epoch: before.epoch, sequence: 0)
        let granted = try await acquire(before, 1, at: .origin)
        guard case .granted(let lease) = granted else { return }
        await before.close()
        var rng = SystemRandomNumberGenerator()
        let between = try await EtcdCloudEngine.open(server.settings)

        let report = try await EtcdRestore.run(on: between, at: now, rng: &rng)

        await between.close()
        #expect(report.leases == 1)
        #expect(report.tokenFloor == UInt64(now.millisecondsSince1970 / 1000) << 20)
        let time = TestTime(0)
        var clock = CloudClock.real
        clock.now = { time.now }
        let after = try await EtcdCloudEngine.open(server.settings, clock: clock)
        #expect(after.epoch == report.epoch)
        #expect(after.epoch != before.epoch)
        let failure = await #expect(throws: CloudFailure.self) {
            _ = try await after.changes(of: .host, in: zone, after: token, limit: 1)
        }
        #expect(failure?.code == .changeTokenExpired)
        guard case .refused(let refusal) = try await acquire(after, 2, at: time.now) else {
            Issue.record("granted at once")
            return
        }
        #expect(refusal.reason == .held || refusal.reason == .restoring)
        time.advance(674)
        guard case .refused = try await acquire(after, 2, at: time.now) else {
            Issue.record("granted too early")
            return
        }
        time.advance(1)
        guard case .granted(let next) = try await acquire(after, 2, at: time.now) else {
            Issue.record("not granted")
            return
        }
        #expect(next.token > lease.token)
        #expect(next.token.rawValue >= report.tokenFloor)
        await after.close()
        // Once it was waited for, the next copy does not wait again.
        let later = try await EtcdCloudEngine.open(server.settings)
        #expect(try await later.leaseLimits(at: .origin).grantsNothingNewBefore == nil)
        await later.close()
    }

    @Test func restore_isRefused_whenNothingIsThere() async throws {
        let server = try EtcdServer()
        try server.start()
        let engine = try await EtcdCloudEngine.open(server.settings)
        var rng = SystemRandomNumberGenerator()

        let error = await #expect(throws: EtcdError.self) {
            _ = try await EtcdRestore.run(on: engine, at: now, rng: &rng)
        }

        #expect(error?.code == .badSetting)
        await engine.close()
    }

    @Test func restore_doesNotCareForDatesInsideTheSnapshot_andKeepsTheZonesIdentity() async throws {
        let server = try EtcdServer()
        try server.start()
        let engine = try await EtcdCloudEngine.open(server.settings)
        let zone = try await engine.createZone(zone, terms: .standard)
        // Its lease is from the present, and this machine's calendar is in 1970.
        _ = try await acquire(engine, 1, at: .origin)
        var rng = SystemRandomNumberGenerator()

        let report = try await EtcdRestore.run(on: engine, at: WallTime(millisecondsSince1970: 0), rng: &rng)

        #expect(report.tokenFloor == 2)
        #expect(report.leases == 1)
        #expect(try await engine.zone(zone.name)?.id == zone.id)
        await engine.close()
        // Restored again, and once more under the calendar of 1970: no token is granted twice.
        var floors: [UInt64] = []
        for time in [now, WallTime(millisecondsSince1970: 0)] {
            let again = try await EtcdCloudEngine.open(server.settings)
            floors.append(try await EtcdRestore.run(on: again, at: time, rng: &rng).tokenFloor)
            await again.close()
        }
        #expect(floors == Array(repeating: UInt64(now.millisecondsSince1970 / 1000) << 20, count: 2))
    }
}
