import Foundation
import MeterTestKit
import Synchronization

/// Copies a store before each statement runs, as if the program were killed there.
///
/// Most statements leave the files as they are until the transaction ends, so that there are far fewer copies than
/// moments: each that is different is there once.
final class CopyAtEachStatement: Sendable {
    private struct Made {
        var moments = 0
        var latest: [Data?]?
        var copies: [Result<String, any Error>] = []
    }

    let isOn = Mutex(false)
    private let made = Mutex(Made())
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) { self.folder = folder }

    /// Number of statements that ran.
    var moments: Int { made.withLock { $0.moments } }

    @Sendable func statementBegins(_ sql: String) {
        guard isOn.withLock({ $0 }) else { return }
        made.withLock { made in
            made.moments += 1
            let present = ["", "-wal"].map { FileManager.default.contents(atPath: folder.store + $0) }
            guard present != made.latest else { return }
            made.latest = present
            let name = "killed-\(made.copies.count).db"
            made.copies.append(Result { try folder.copyStore(as: name) })
        }
    }

    func copies() throws -> [String] { try made.withLock { try $0.copies.map { try $0.get() } } }
}
