import Domain
import GRDB
import Gateway
import MeterCodec
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// The power fails, or the program is killed, in the middle of a write: what is found afterwards is the state before it
/// or the state after it.
///
/// A kill leaves the file and its log as they are at that moment, so a copy of the two is what a killed program leaves.
struct InterruptedWriteTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Everything that can be read from a store.
    private struct Contents: Hashable {
        var meters: [KnownMeter]
        var settings: [String: String]
        var one: [StoredSample]
        var two: [StoredSample]
    }

    private func contents(of store: MeterStore) async throws -> Contents {
        Contents(
            meters: try await store.meters(), settings: try await store.settings(of: .one),
            one: try await store.allSamples(), two: try await store.allSamples(of: .two))
    }

    private func contents(at path: String) async throws -> Contents {
        let store = try MeterStore.open(path: path)
        #expect(try await store.quickCheck() == [])
        let contents = try await contents(of: store)
        // Closed here rather than with the last reference: a late close would remove the log that the caller writes
        // next.
        try store.close()
        return contents
    }

    private func makeStore() async throws {
        let store = try MeterStore.open(path: folder.store)
        try await store.append([.minute(0), .minute(1)])
        try await store.set(["name": "Desk", "note": "old"], for: .one)
        try store.close()
    }

    private static let writes: [(name: String, body: @Sendable (MeterStore) async throws -> Void)] = [
        ("append", { try await $0.append([.minute(2), .minute(0, of: .two), .minute(1, of: .two)]) }),
        ("set", { try await $0.set(["name": "Bench", "note": nil, "units": "F"], for: .one) }),
        ("save", { try await $0.save(KnownMeter(id: .one, model: .um25c, isWanted: true)) }),
    ]

    @Test(arguments: writes.indices)
    func write_isWholeOrNothing_whenKilledAtAnyStatement(index: Int) async throws {
        try await makeStore()
        let before = try await contents(at: folder.store)
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        try await Self.writes[index].body(store)
        recorder.isOn.withLock { $0 = false }

        let after = try await contents(of: store)
        #expect(after != before)
        let copies = try recorder.copies()
        #expect(recorder.moments >= 3, "a transaction has a beginning, a statement and an end")
        for copy in copies {
            let found = try await contents(at: copy)
            #expect(found == before || found == after, "\(copy)")
        }
    }

    @Test func opening_canBeRepeated_whenKilledAtAnyStatement() async throws {
        let recorder = CopyAtEachStatement(folder)
        recorder.isOn.withLock { $0 = true }
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))
        recorder.isOn.withLock { $0 = false }
        let whole = try await contents(of: store)

        let copies = try recorder.copies()
        #expect(recorder.moments > 10)
        for copy in copies { #expect(try await contents(at: copy) == whole, "\(copy)") }
    }

    @Test func prune_losesNothingElse_whenKilledAtAnyStatement() async throws {
        let made = try MeterStore.open(path: folder.store)
        try await made.append((0..<60).map { .minute($0) })
        try made.close()
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        let removed = try await store.prune(before: SampleChunk.minute(50).first, maxBytes: .max)
        recorder.isOn.withLock { $0 = false }

        #expect(removed == 50 * 120)
        let copies = try recorder.copies()
        #expect(recorder.moments > 50)
        // All of it is one step here; the shrinking that follows changes nothing visible.
        for copy in copies {
            let left = try await contents(at: copy).one.count
            #expect(left == 60 * 120 || left == 10 * 120, "\(copy)")
        }
    }

    /// A power cut in the middle of the commit itself: the log ends anywhere.
    @Test(arguments: writes.indices)
    func write_isWholeOrNothing_whenTheLogEndsAnywhere(index: Int) async throws {
        try await makeStore()
        let before = try await contents(at: folder.store)
        let store = try MeterStore.open(path: folder.store)
        try await Self.writes[index].body(store)
        let after = try await contents(of: store)
        let copy = try folder.copyStore(as: "torn.db")
        let main = try folder.bytes(of: copy)
        let log = try folder.bytes(of: copy + "-wal")
        #expect(log.count > 500)

        var found: Set<Contents> = []
        for length in Array(stride(from: 0, to: log.count, by: 97)) + [log.count - 1, log.count] {
            try folder.write(main, to: copy)
            try folder.write(Array(log.prefix(length)), to: copy + "-wal")
            let contents = try await contents(at: copy)
            #expect(contents == before || contents == after, "log cut to \(length) of \(log.count) bytes")
            found.insert(contents)
        }
        #expect(found == [before, after])
    }
}
