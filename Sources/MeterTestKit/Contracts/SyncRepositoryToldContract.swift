import Domain
import Gateway

/// Clauses of `SyncRepositoryContract` about changes that the cloud accepted and may have lost.
enum SyncRepositoryToldContract {
    typealias Clause = SyncRepositoryContract.Clause

    static var clauses: [Clause] { repeatClauses + endClauses }

    private static var repeatClauses: [Clause] {
        [
            Clause("told_isToldAgain_whereAReadingThatBeganLaterDoesNotListIt") { repository in
                let desk = try await repository.tellDesk()
                // The fetch of this page may have begun before the cloud accepted the write, so it does not prove a
                // loss.
                let first = try await repository.apply(.of([], token: "t1"))
                try ContractViolation.requireEqual(first.toldAgain, 0, "told again too early")
                try ContractViolation.requireEqual(await repository.waiting(), [], "too early")
                let second = try await repository.apply(.of([], token: "t2"))
                try ContractViolation.requireEqual(second.toldAgain, 1, "told again")
                try ContractViolation.requireEqual(await repository.waiting(), [desk], "waiting")
            },
            Clause("told_isNotToldAgain_onceItIsListed") { repository in
                let desk = try await repository.tellDesk()
                _ = try await repository.apply(.of([desk], token: "t1"))
                try await repository.readTwice()
                try ContractViolation.requireEqual(await repository.waiting(), [], "waiting")
            },
            Clause("told_isAwaitedStill_whereAnOlderPartOfItIsListed") { repository in
                let desk = try await repository.tellDesk()
                let others = SyncRecord(.desk, ["units": (.string("C"), .minute(0))])
                _ = try await repository.apply(.of([others], token: "t1"))
                try await repository.readTwice()
                try ContractViolation.requireEqual(
                    await repository.waiting().map { $0.properties["name"] }, [desk.properties["name"]], "waiting")
            },
            Clause("toldDeletion_isToldAgain_whereItIsNotListed") { repository in
                let before = SyncRecord(.desk, ["units": (.string("C"), .minute(0))])
                _ = try await repository.apply(.of([before], token: "t1"))
                _ = try await repository.delete(.desk, at: .minute(1))
                try await repository.tellWhatWaits()
                try await repository.readTwice()
                let waiting = try await repository.waiting()
                try ContractViolation.requireEqual(waiting.map { $0.deletion != nil }, [true], "waiting")
            },
            Clause("told_isNotSetAside_byARefetchThatDoesNotListIt") { repository in
                let desk = try await repository.tellDesk()
                try await repository.beginRefetch(of: .deviceSettings)
                try await repository.readTwice()
                try ContractViolation.requireEqual(await repository.record(.desk), desk, "record")
                try ContractViolation.requireEqual(await repository.parked(limit: 9), [], "parked")
                try ContractViolation.requireEqual(await repository.waiting(), [desk], "waiting")
            },
        ]
    }

    private static var endClauses: [Clause] {
        [
            Clause("told_isToldAgainOnceOnly") { repository in
                _ = try await repository.tellDesk()
                try await repository.readTwice()
                try await repository.tellWhatWaits()
                for _ in 0..<2 { try await repository.readTwice() }
                try ContractViolation.requireEqual(await repository.waiting(), [], "the cloud had it all the time")
            },
            Clause("told_isForgotten_whereItWasWrittenAgain") { repository in
                _ = try await repository.tellDesk()
                try await repository.set(.desk, "name", .string("Bench"), at: .minute(2))
                try await repository.readTwice()
                let values = try await repository.waitingValues()
                try ContractViolation.requireEqual(values, [["name": .string("Bench")]], "waiting")
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
            },
            Clause("whatWaits_needNotBeTold_onceItIsListedAsItStands") { repository in
                let desk = try await repository.tellDesk()
                try await repository.adopt(epoch: "e2")
                try await repository.set(.shed, "name", .string("Shed"), at: .minute(2))
                _ = try await repository.apply(.of([desk], token: "t1", epoch: "e2"))
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.shed], "waiting")
            },
            Clause("whatWaits_isTold_whereAnotherValueIsListedUnderItsStamp") { repository in
                // As on a copied SD card: another host with the same id writes another value under the same stamp.
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(1))
                let own = try ContractViolation.requireSome(await repository.record(.desk)?.newestStamp, "stamp")
                let twin = SyncRecord(key: .desk, properties: ["name": Register(value: .string("Den"), stamp: own)])
                _ = try await repository.apply(.of([twin], token: "t1"))
                try ContractViolation.requireEqual(
                    await repository.waitingValues(), [["name": .string("Desk")]], "waiting")
            },
            Clause("told_isForgotten_withAnotherStore") { repository in
                let desk = try await repository.tellDesk()
                try await repository.adopt(epoch: "e2")
                try ContractViolation.requireEqual(await repository.waiting(), [desk], "everything waits")
                try await repository.tellWhatWaits()
                _ = try await repository.apply(.of([desk], token: "t1", epoch: "e2"))
                for token in ["t2", "t3"] { _ = try await repository.apply(.of([], token: token, epoch: "e2")) }
                try ContractViolation.requireEqual(await repository.waiting(), [], "waiting")
            },
        ]
    }
}

extension SettingsRepository where Self: SyncRepository {
    fileprivate func tellDesk() async throws -> SyncRecord {
        try await set(.desk, "name", .string("Desk"), at: .minute(1))
        try await tellWhatWaits()
        return try ContractViolation.requireSome(await record(.desk), "record")
    }

    fileprivate func tellWhatWaits() async throws {
        let batch = try ContractViolation.requireSome(await nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
        _ = try await settle(batch, .to(batch))
        try ContractViolation.requireEqual(await waiting(), [], "all was told")
    }

    fileprivate func readTwice() async throws {
        for token in ["r1", "r2"] { _ = try await apply(.of([], token: token)) }
    }

    fileprivate func waitingValues() async throws -> [[String: SettingValue]] {
        try await waiting().map { $0.properties.mapValues(\.value) }
    }
}
