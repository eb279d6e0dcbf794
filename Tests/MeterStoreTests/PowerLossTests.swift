import Domain
import Foundation
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

/// The power fails at any moment of a run, and takes with it, in any order, what the disk did not have yet: whatever
/// was acknowledged is there afterwards.
struct PowerLossTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let steps = 200

    @Test func acknowledgedSettings_survive_whereverThePowerGoes() async throws {
        let disk = try FaultyDisk(folder, interval: 29)

        let (images, expected) = try await run(on: disk)

        #expect(images.count > 150, "only \(images.count) moments were looked at")
        #expect(disk.syncs > Self.steps / 2)
        for image in images {
            let found = try await contents(of: image)
            let allowed = expected[image.acknowledged...min(image.acknowledged + 1, Self.steps)]
            #expect(allowed.contains(found), "\(lateness(of: found, expected)), \(image)")
        }
    }

    /// The test above can fail: it does if the store only believes that it waits for the disk.
    @Test func acknowledgedSettings_areLost_whenTheDiskIsNotWaitedFor() async throws {
        let disk = try FaultyDisk(folder, interval: 61)
        disk.ignoreSynchronous()

        let (images, expected) = try await run(on: disk)

        var losses = 0
        for image in images {
            let found = try await contents(of: image)
            guard !expected[image.acknowledged...min(image.acknowledged + 1, Self.steps)].contains(found) else {
                continue
            }
            losses += 1
            #expect(expected.contains(found), "older is expected, half is not: \(image)")
        }
        #expect(losses > images.count / 4, "\(losses) of \(images.count)")
    }

    /// A person's wish is on the disk before it is acknowledged; that a meter was seen need not be, and costs no wait.
    @Test(arguments: [
        (KnownMeter(id: .one, isWanted: true), true), (KnownMeter(id: .one, isDeclared: true), true),
        (KnownMeter(id: .one, lastSeen: HostMoment.minute(1).wall), false),
    ])
    func newMeter_isWaitedFor_whereAPersonAskedForIt(meter: KnownMeter, isWish: Bool) async throws {
        let disk = try FaultyDisk(folder, interval: 1 << 30)
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        // The log has begun, which is a sync of its own.
        try await store.save(KnownMeter(id: .two, lastSeen: HostMoment.minute(0).wall))
        let before = disk.syncs

        try await store.save(meter)

        #expect((disk.syncs > before) == isWish)
        disk.restorePower()
        try store.close()
    }

    // MARK: - The run

    private struct Contents: Hashable {
        var settings: SettingsContents
        var meters: [KnownMeter]
    }

    /// - Returns: what the power cuts left, and what must be there after each step, starting before the first.
    private func run(on disk: FaultyDisk) async throws -> (images: [FaultyDisk.Image], expected: [Contents]) {
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        // On a disk whose power never fails.
        let model = MeterStore.temporary(of: try await store.hostIdentity())
        var expected = [try await contents(of: model)]
        for step in 1...Self.steps {
            try await perform(step, on: store)
            disk.acknowledged.withLock { $0 = step }
            try await perform(step, on: model)
            expected.append(try await contents(of: model))
        }
        disk.restorePower()
        #expect(try await contents(of: store) == expected.last, "the store and its model differ")
        try store.close()
        return (try disk.images(), expected)
    }

    private func perform(_ step: Int, on store: MeterStore) async throws {
        let now = HostMoment.minute(step)
        switch step % 8 {
        case 0:
            try await store.append([.minute(step), .minute(step, of: .two)])
            _ = try await store.delete(.meter(step % 5), at: now)
        case 1, 3, 6: try await store.set(.meter(step % 5), "p\(step % 4)", .int(Int64(step)), at: now)
        case 2:
            let changes = (0..<4).map {
                SettingChange(key: .meter($0), property: "name", value: .string("Meter \($0) at \(step)"))
            }
            _ = try await store.write(changes, at: now)
        case 4:
            let records = (0..<6).map { SyncRecord(.meter($0 * 2), ["theirs": (.int(Int64(step)), .minute(step))]) }
            _ = try await store.apply(.of(records, token: "t\(step)"))
        case 5: try await store.push(recordsMax: 3)
        default: try await store.save(KnownMeter(id: .one, isWanted: step % 16 == 7))
        }
    }

    private func contents(of store: MeterStore) async throws -> Contents {
        Contents(settings: try await SettingsContents(store), meters: try await store.meters())
    }

    private func contents(of image: FaultyDisk.Image) async throws -> Contents {
        let store = try MeterStore.open(path: image.path)
        #expect(try await store.quickCheck() == [], "\(image)")
        let contents = try await contents(of: store)
        try store.close()
        try FileManager.default.removeItem(atPath: image.path)
        return contents
    }

    private func lateness(of found: Contents, _ expected: [Contents]) -> String {
        expected.firstIndex(of: found).map { "what was there after step \($0)" } ?? "what never was"
    }
}
