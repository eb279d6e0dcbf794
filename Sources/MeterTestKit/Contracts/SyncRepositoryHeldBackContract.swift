import Domain
import Gateway

enum SyncRepositoryHeldBackContract {
    typealias Clause = SyncRepositoryContract.Clause

    static var clauses: [Clause] {
        [
            Clause("heldBack_staysInTheOutbox_andLetsTheOthersPass") { repository in
                try await repository.holdBack([.desk])
                try await repository.set(.shed, "a", .int(1), at: .minute(1))
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.shed], "in a batch")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.pending, 2, "pending")
                try ContractViolation.requireEqual(progress.heldBack, 1, "held back")
                try ContractViolation.requireEqual(progress.parked, 0, "parked")
            },
            Clause("heldBack_waitsAgain_whenItIsRetried_andIsTakenThen") { repository in
                try await repository.holdBack([.desk])
                try ContractViolation.requireEqual(await repository.retryHeldBack(recordsMax: 9), 1, "retried")
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "in a batch")
                try ContractViolation.requireEqual(await repository.retryHeldBack(recordsMax: 9), 0, "once more")
                try await repository.tellAll()
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.pending, 0, "pending")
                try ContractViolation.requireEqual(progress.heldBack, 0, "held back")
            },
            Clause("retry_isOfAFew_firstThoseThatWereRefusedLeast") { repository in
                try await repository.holdBack([.desk, .shed])
                try ContractViolation.requireEqual(await repository.retryHeldBack(recordsMax: 1), 1, "retried")
                let first = try await repository.waiting().map(\.key)
                try await repository.holdBack([])
                try ContractViolation.requireEqual(await repository.retryHeldBack(recordsMax: 1), 1, "retried")
                let second = try await repository.waiting().map(\.key)
                try ContractViolation.requireEqual(Set(first + second), [.desk, .shed], "one after the other")
            },
            Clause("heldBack_waitsAgain_whenItIsWrittenAgain") { repository in
                try await repository.holdBack([.desk])
                try await repository.set(.desk, "a", .int(2), at: .minute(1))
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "in a batch")
                try ContractViolation.requireEqual(await repository.progress().heldBack, 0, "held back")
            },
            Clause("deletionOfWhatIsHeldBack_isTold") { repository in
                try await repository.holdBack([.desk])
                _ = try await repository.delete(.desk, at: .minute(1))
                try ContractViolation.requireEqual(
                    await repository.waiting().map { $0.deletion != nil }, [true], "in a batch")
            },
            Clause("heldBack_stays_whenAPageListsWhatTheCloudHasOfIt") { repository in
                try await repository.set(.desk, "b", .int(1), at: .minute(0))
                try await repository.tellAll()
                let stored = try ContractViolation.requireSome(await repository.record(.desk), "record")
                try await repository.holdBack([.desk])
                _ = try await repository.apply(.of([stored], token: "t1"))
                try ContractViolation.requireEqual(await repository.waiting(), [], "in a batch")
                try ContractViolation.requireEqual(await repository.progress().heldBack, 1, "held back")
            },
            Clause("heldBack_isNoMore_whenTheZoneBeginsAnew") { repository in
                try await repository.holdBack([.desk])
                let zone = SyncZone(id: "z2", name: "other", epoch: "e2", serverTime: 1)
                try await repository.adopt(zone, .everything)
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "in a batch")
                try ContractViolation.requireEqual(await repository.progress().heldBack, 0, "held back")
            },
        ]
    }
}

extension SettingsRepository where Self: SyncRepository {
    fileprivate func holdBack(_ keys: [RecordKey]) async throws {
        for key in keys { try await set(key, "a", .string("long"), at: .minute(0)) }
        let batch = try ContractViolation.requireSome(await nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
        let failures = Dictionary(uniqueKeysWithValues: batch.records.map { ($0.key, SyncFailure.Kind.quotaExceeded) })
        let outcome = try await settle(batch, .to(batch, failures: failures))
        try ContractViolation.requireEqual(outcome.parked, 0, "parked")
    }

    fileprivate func tellAll() async throws {
        let batch = try ContractViolation.requireSome(await nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
        _ = try await settle(batch, .to(batch))
    }
}
