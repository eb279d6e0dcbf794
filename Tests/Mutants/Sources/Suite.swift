import Foundation

/// A suite of tests, or a test that is in none.
struct Suite: Hashable, Sendable, CustomStringConvertible {
    let target: String
    private let name: String

    /// - Parameter test: as the runner lists it: `SyncCoreTests.OutboxTests/push_waits()`.
    init?(ofTest test: Substring) {
        guard let dot = test.firstIndex(of: ".") else { return nil }
        target = String(test[..<dot])
        name = String(test[test.index(after: dot)...].prefix { $0 != "/" })
    }

    /// What the runner's `--filter` takes.
    var filter: String { "^\(target)\\.\(NSRegularExpression.escapedPattern(for: name))(/|$)" }
    var description: String { "\(target).\(name)" }
}
