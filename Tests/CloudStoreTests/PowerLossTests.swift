import CFaultyVFS
import Cloud
import CloudStore
import Domain
import Foundation
import MeterTestKit
import Synchronization
import Testing

/// The power is cut at any write, truncation or sync of the disk: what was acknowledged is there afterwards, because
/// each commit waits for the disk.
struct PowerLossTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes records and takes and frees leases, so that every third write is some kind of lease change.
    private func write(_ count: Int, to engine: SQLiteCloudEngine, on disk: CloudDisk) async throws {
        var token: FencingToken?
        for number in 0..<count {
            switch number % 3 {
            case 0: _ = try await engine.modify([Sample.record("m\(number)")], in: "home", now: Sample.now)
            case 1: token = try await engine.acquire(Sample.acquire(UInt64(number))).token
            default: try await engine.release(token ?? .max, session: UInt64(number - 1))
            }
            disk.acknowledged.withLock { $0 = number + 1 }
        }
    }

    /// How many of the writes are in it, all of them from the first on.
    private func writes(in contents: CloudContents, of count: Int) -> Int? {
        let records = contents.records.count
        let lease = contents.leases.first
        let token = Int(lease?.token.rawValue ?? 0)
        let isFree = lease.map { $0.state == .free } ?? true
        // Of each three, the record comes first, then the lease is taken, then freed.
        return (0...count).first { taken in
            records == (taken + 2) / 3 && token == (taken + 1) / 3 && isFree == (taken % 3 != 2)
        }
    }

    private func cutPower(
        _ count: Int, ignoringSynchronous: Bool = false
    ) async throws -> [(image: CloudDisk.Image, writes: Int?)] {
        try FileManager.default.createDirectory(atPath: folder.cloud, withIntermediateDirectories: true)
        let disk = try CloudDisk(folder)
        if ignoringSynchronous { disk.ignoreSynchronous() }
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        disk.begin()
        try await write(count, to: engine, on: disk)
        disk.end()
        var found: [(image: CloudDisk.Image, writes: Int?)] = []
        for image in try disk.images() {
            let contents = try await CloudContents(at: image.directory, folder)
            found.append((image, writes(in: contents, of: count)))
        }
        try engine.close()
        return found
    }

    @Test func acknowledgedWrites_survive_whenThePowerIsCutAnywhere() async throws {
        let found = try await cutPower(30)

        #expect(found.count > 60, "each commit writes and syncs")
        for (image, writes) in found {
            let count = try #require(writes, "\(image): no state that ever was")
            #expect(count == image.acknowledged || count == image.acknowledged + 1, "\(image): \(count) writes")
        }
    }

    /// The check can fail: a store that does not wait for the disk loses what it acknowledged.
    @Test func acknowledgedWrites_areLost_withoutWaitingForTheDisk() async throws {
        let found = try await cutPower(30, ignoringSynchronous: true)

        #expect(found.contains { ($0.writes ?? 0) < $0.image.acknowledged })
        #expect(found.allSatisfy { $0.writes != nil }, "whole transactions all the same")
    }
}

/// The disk of one cloud, whose power can be cut: images of what is left then, taken while the cloud is in use.
private final class CloudDisk: @unchecked Sendable {
    /// What a power cut left, as a data directory that can be opened.
    struct Image: CustomStringConvertible {
        var directory: String
        /// How many writes were acknowledged before the cut.
        var acknowledged: Int
        var mode: Int32

        var description: String { "\(directory), mode \(mode), \(acknowledged) acknowledged" }
    }

    let acknowledged = Mutex(0)
    private let taken = Mutex<[Result<Image, any Error>]>([])
    private let disk: OpaquePointer
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) throws {
        guard let disk = faulty_disk_create(folder.store) else { throw CocoaError(.fileWriteUnknown) }
        self.disk = disk
        self.folder = folder
    }

    deinit { faulty_disk_destroy(disk) }

    func ignoreSynchronous() { faulty_disk_ignore_synchronous(disk) }

    func images() throws -> [Image] { try taken.withLock { try $0.map { try $0.get() } } }

    /// Takes an image before each of the disk's operations from now on.
    func begin() {
        faulty_disk_set_hook(
            disk,
            { context, operation in
                guard let context else { return }
                Unmanaged<CloudDisk>.fromOpaque(context).takeUnretainedValue().operationBegins(operation)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func end() { faulty_disk_set_hook(disk, nil, nil) }

    private func operationBegins(_ operation: Int) {
        let acknowledged = acknowledged.withLock { $0 }
        // Losing all, losing some, and tearing, in turn.
        let mode = Int32(operation % 3)
        let image = Result {
            let directory = "\(folder.path)/cut-\(operation)"
            for suffix in ["", "-wal"] {
                guard let bytes = bytes(of: suffix, mode: mode, seed: UInt64(operation)) else { continue }
                try folder.write(bytes, to: directory + "/cloud.db" + suffix)
            }
            return Image(directory: directory, acknowledged: acknowledged, mode: mode)
        }
        taken.withLock { $0.append(image) }
    }

    private func bytes(of suffix: String, mode: Int32, seed: UInt64) -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let length = faulty_disk_image(disk, suffix, mode, seed, &bytes)
        guard length >= 0 else { return nil }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : length))
    }
}
