import CFaultyVFS
import Foundation
import MeterTestKit
import Synchronization

/// The disk of one store, whose power can be cut: `images` are what would be left then, taken while the store is in
/// use.
final class FaultyDisk: @unchecked Sendable {
    /// What a power cut left, as files that can be opened.
    struct Image {
        var path: String
        /// The test's count of what had been acknowledged before the cut.
        var acknowledged: Int
        /// Number of the disk operation that did not happen.
        var operation: Int
        var mode: Int32
    }

    let acknowledged = Mutex(0)
    private let taken = Mutex<[Result<Image, any Error>]>([])
    private let disk: OpaquePointer
    private let folder: TemporaryFolder
    private let interval: Int

    /// - Parameter interval: an image is taken before every operation whose number is a multiple of this.
    init(_ folder: TemporaryFolder, interval: Int) throws {
        guard let disk = faulty_disk_create(folder.store) else { throw CocoaError(.fileWriteUnknown) }
        self.disk = disk
        self.folder = folder
        self.interval = interval
        let context = Unmanaged.passUnretained(self).toOpaque()
        faulty_disk_set_hook(
            disk,
            { context, operation in
                guard let context else { return }
                Unmanaged<FaultyDisk>.fromOpaque(context).takeUnretainedValue().operationBegins(operation)
            }, context)
    }

    deinit { faulty_disk_destroy(disk) }

    var syncs: Int { faulty_disk_syncs(disk) }

    func ignoreSynchronous() { faulty_disk_ignore_synchronous(disk) }

    func images() throws -> [Image] { try taken.withLock { try $0.map { try $0.get() } } }

    /// Takes no more images.
    func restorePower() { faulty_disk_set_hook(disk, nil, nil) }

    private func operationBegins(_ operation: Int) {
        guard operation % interval == 0 else { return }
        let acknowledged = acknowledged.withLock { $0 }
        let mode = Int32(operation / interval % 3)
        let image = Result {
            let path = "\(folder.path)/cut-\(operation).db"
            for suffix in ["", "-wal"] {
                guard let bytes = bytes(of: suffix, mode: mode, seed: UInt64(operation)) else { continue }
                try bytes.write(to: URL(fileURLWithPath: path + suffix))
            }
            return Image(path: path, acknowledged: acknowledged, operation: operation, mode: mode)
        }
        taken.withLock { $0.append(image) }
    }

    private func bytes(of suffix: String, mode: Int32, seed: UInt64) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let length = faulty_disk_image(disk, suffix, mode, seed, &bytes)
        guard length >= 0 else { return nil }
        guard let bytes, length > 0 else { return Data() }
        return Data(bytesNoCopy: bytes, count: length, deallocator: .free)
    }
}
