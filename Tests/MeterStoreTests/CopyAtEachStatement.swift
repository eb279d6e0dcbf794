import MeterTestKit
import Synchronization

/// Copies a store before each statement runs, as if the program were killed there.
final class CopyAtEachStatement: Sendable {
    let isOn = Mutex(false)
    private let made = Mutex<[Result<String, any Error>]>([])
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) { self.folder = folder }

    @Sendable func statementBegins(_ sql: String) {
        guard isOn.withLock({ $0 }) else { return }
        made.withLock { made in
            let name = "killed-\(made.count).db"
            made.append(Result { try folder.copyStore(as: name) })
        }
    }

    func copies() throws -> [String] { try made.withLock { try $0.map { try $0.get() } } }
}
