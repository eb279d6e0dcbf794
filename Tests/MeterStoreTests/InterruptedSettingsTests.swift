import Domain
import Gateway
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// The program is killed at any statement of anything that changes settings: what is found afterwards is the state
/// before it or the state after it, with nothing twice in the outbox.
struct InterruptedSettingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Work: Sendable, CustomStringConvertible {
        let description: String
        let prepare: @Sendable (MeterStore) async throws -> Void
        let body: @Sendable (MeterStore) async throws -> Void

        init(
            _ description: String, prepare: @escaping @Sendable (MeterStore) async throws -> Void = { _ in },
            _ body: @escaping @Sendable (MeterStore) async throws -> Void
        ) {
            self.description = description
            self.prepare = prepare
            self.body = body
        }
    }

    private static let year = 365 * 24 * 60

    private static let works: [Work] = [
        Work("write") { store in
            _ = try await store.write(
                [
                    SettingChange(key: .desk, property: "name", value: .string("Bench")),
                    SettingChange(key: .desk, property: "units", value: .string("F")),
                    SettingChange(key: .meter(9), property: "name", value: .string("New")),
                ], at: .minute(5))
        },
        Work("delete") { store in _ = try await store.delete(.desk, at: .minute(5)) },
        Work("page") { store in
            _ = try await store.apply(
                .of(
                    [
                        SyncRecord(.desk, ["name": (.string("Theirs"), .minute(9))]),
                        SyncRecord(.meter(3), ["name": (.string("New"), .minute(9))]),
                        SyncRecord(.meter(4), ["bad name": (.null, .minute(9))]),
                    ], token: "t2"))
        },
        Work("page with an older name") { store in
            _ = try await store.apply(.of([SyncRecord(.oldDesk, ["units": (.string("F"), .minute(9))])], token: "t2"))
        },
        Work("settle") { store in
            try await store.push(
                refused: .bench, merged: [SyncRecord(.desk, ["name": (.string("Theirs"), .minute(9))])])
        },
        Work("begin a refetch") { store in try await store.beginRefetch(of: .deviceSettings) },
        Work("end a refetch", prepare: { try await $0.beginRefetch(of: .deviceSettings) }) { store in
            _ = try await store.apply(.of([SyncRecord(.meter(0), ["b": (.int(2), .minute(1))])], token: "r1"))
        },
        Work("adopt") { store in try await store.adopt(epoch: "e2") },
        Work(
            "another zone",
            prepare: { store in
                try await store.adopt(SyncZone(id: "1ab", name: "lab", epoch: "e1"), .everything)
                _ = try await store.delete(.bench, at: .minute(5))
            }
        ) { store in
            try await store.adopt(SyncZone(id: "40e", name: "home", epoch: "e1"), .another(bringsAll: false))
        },
        Work(
            "restamp",
            prepare: { store in
                for property in ["a", "b"] { try await store.set(.desk, property, .int(1), at: .minute(Self.year)) }
            }
        ) { store in try await store.restamp(from: HostMoment.minute(6).milliseconds) },
        Work("correct", prepare: { try await $0.set(.bench, "a", .int(1), at: .minute(5)) }) { store in
            try await store.correct(clockOffset: .seconds(-86_400), at: .minute(6))
        },
        Work("clean up") { store in try await store.cleanUp(now: HostMoment.minute(Self.year).wall) },
        Work("rebuild") { store in _ = try await store.rebuildStep(recordsMax: 100, at: HostMoment.minute(6).wall) },
        Work("retry", prepare: { try await $0.push(refused: .desk) }) { store in _ = try await store.retryParked() },
    ]

    private func makeStore(_ work: Work) async throws {
        let store = try MeterStore.open(path: folder.store, options: .init(machine: .here))
        _ = try await store.apply(
            .of(
                [
                    SyncRecord(.meter(0), ["a": (.int(1), .minute(0)), "b": (.int(2), .minute(1))]),
                    SyncRecord(.meter(1), ["a": (.int(1), .minute(0))]),
                    SyncRecord(key: .meter(2), deletion: Deletion(stamp: .minute(0))),
                ], token: "t1"))
        try await store.set(.desk, "name", .string("Shelf"), at: .minute(2))
        try await store.set(.desk, "name", .string("Desk"), at: .minute(3))
        try await store.set(.bench, "name", .string("Bench"), at: .minute(4))
        try await work.prepare(store)
        try store.close()
    }

    private func contents(at path: String) async throws -> SettingsContents {
        let store = try MeterStore.open(path: path, options: .init(machine: .here))
        #expect(try await store.quickCheck() == [])
        let contents = try await SettingsContents(store)
        try store.close()
        return contents
    }

    @Test(arguments: works.indices)
    func change_isWholeOrNothing_whenKilledAtAnyStatement(index: Int) async throws {
        let work = Self.works[index]
        try await makeStore(work)
        let before = try await contents(at: try folder.copyStore(as: "before.db"))
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(
            path: folder.store, options: .init(machine: .here, onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        try await work.body(store)
        recorder.isOn.withLock { $0 = false }

        let after = try await SettingsContents(store)
        #expect(after != before, "\(work) changed nothing")
        let copies = try recorder.copies()
        #expect(recorder.moments >= 3, "a transaction has a beginning, a statement and an end")
        for copy in copies {
            let found = try await contents(at: copy)
            #expect(found == before || found == after, "\(work): \(copy)")
        }
        try store.close()
    }
}
