import Domain
import Gateway
import GatewayAPI

/// Clauses of `SyncRepositoryContract` about zones, and about set-aside records (`MergeOutcome.parked`).
enum SyncRepositoryZoneContract {
    typealias Clause = SyncRepositoryContract.Clause

    static var clauses: [Clause] { entryClauses + deletionClauses + asideClauses + parkedClauses }

    private static let lab = SyncZone(id: "1ab", name: "lab", epoch: "e1", serverTime: 1000)
    private static let home = SyncZone(id: "40e", name: "home", epoch: "e1", serverTime: 2000)

    private static var entryClauses: [Clause] {
        [
            Clause("zone_isKnownByItsIdentity_andRemembered") { repository in
                try await repository.adopt(lab, .everything)
                try await repository.adopt(home, .another(bringsAll: false))
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.zone, "40e", "zone")
                try ContractViolation.requireEqual(progress.zoneName, "home", "name")
                try ContractViolation.requireEqual(
                    progress.visits["1ab"], SyncVisit(identity: "1ab", name: "lab", serverTime: 1000), "visit")
                try await repository.runEnded(isComplete: true, at: HostMoment.minute(1).wall, serverTime: 3000)
                try ContractViolation.requireEqual(await repository.progress().visits["40e"]?.serverTime, 3000, "later")
            },
            Clause("anotherZone_isToldWhatWasMadeHere_andTheRestIsSetAside") { repository in
                try await repository.adopt(lab, .everything)
                let theirs = SyncRecord(.shed, ["name": (.string("Shed"), .minute(1))])
                let both = SyncRecord(.desk, ["units": (.string("C"), .minute(1))])
                _ = try await repository.apply(.of([theirs, both], token: "t1"))
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(2))
                try await repository.tellAll()
                try await repository.adopt(home, .another(bringsAll: false))
                let desk = try ContractViolation.requireSome(await repository.record(.desk), "record")
                try ContractViolation.requireEqual(await repository.waiting(), [desk], "waiting")
                try ContractViolation.requireEqual(desk.properties.count, 2, "others' part of it")
                try ContractViolation.requireEqual(await repository.record(.shed), nil, "others'")
                let parked = try await repository.parked(limit: 9)
                try ContractViolation.requireEqual(parked.map(\.reason), [.otherZone], "reason")
                try ContractViolation.requireEqual(parked.map(\.zone), ["lab"], "zone")
                try ContractViolation.requireEqual(parked.map(\.own), [false], "own")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.tokens, [:], "tokens")
                try ContractViolation.requireEqual(progress.refetching, [], "refetching")
            },
            Clause("anotherZone_isToldEverything_whereAPersonSaysSo") { repository in
                try await repository.adopt(lab, .everything)
                let theirs = SyncRecord(.shed, ["name": (.string("Shed"), .minute(1))])
                _ = try await repository.apply(.of([theirs], token: "t1"))
                try await repository.adopt(home, .another(bringsAll: true))
                try ContractViolation.requireEqual(await repository.waiting(), [theirs], "waiting")
                try ContractViolation.requireEqual(await repository.progress().parked, 0, "parked")
            },
            Clause("unknownZone_isToldWhatWasMadeHere_andTheRestIsReadAnew") { repository in
                let theirs = SyncRecord(.shed, ["name": (.string("Shed"), .minute(1))])
                _ = try await repository.apply(.of([theirs], token: "t1"))
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(2))
                try await repository.tellAll()
                try await repository.adopt(home, .own)
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "waiting")
                let progress = try await repository.progress()
                try ContractViolation.requireEqual(progress.refetching, Set(RecordType.known), "refetching")
                try ContractViolation.requireEqual(progress.tokens, [:], "tokens")
                try ContractViolation.requireEqual(await repository.record(.shed), theirs, "stays until it is read")
            },
            Clause("afterLong_nothingIsToldButWhatWaits") { repository in
                try await repository.adopt(home, .everything)
                try await repository.set(.shed, "name", .string("Shed"), at: .minute(1))
                try await repository.tellAll()
                try await repository.set(.desk, "name", .string("Desk"), at: .minute(2))
                try await repository.adopt(home, .afterLong)
                try ContractViolation.requireEqual(await repository.waiting().map(\.key), [.desk], "waiting")
                _ = try await repository.apply(.of([], token: "r1"))
                try ContractViolation.requireEqual(await repository.record(.shed), nil, "not listed")
                try ContractViolation.requireEqual(await repository.parked(limit: 9).map(\.own), [true], "own")
            },
            Clause("page_ofAnotherZone_isRefused") { repository in
                try await repository.adopt(home, .everything)
                var page = ChangesPage.of(SyncRecord.many(0..<1), token: "t1")
                page.zoneID = "1ab"
                let wrong = page
                try await ContractViolation.requireThrow("a page of another zone") {
                    _ = try await repository.apply(wrong)
                }
                page.zoneID = "40e"
                _ = try await repository.apply(page)
            },
        ]
    }

    private static var deletionClauses: [Clause] {
        [
            Clause("deletion_isNotInForceInAnotherZone_andWaitsForTheReturn") { repository in
                try await repository.adopt(lab, .everything)
                let theirs = SyncRecord(.shed, ["name": (.string("Shed"), .minute(1))])
                _ = try await repository.apply(.of([theirs], token: "t1"))
                _ = try await repository.delete(.shed, at: .minute(2))
                let deletion = try await repository.record(.shed)?.deletion
                try await repository.adopt(home, .another(bringsAll: true))
                try ContractViolation.requireEqual(await repository.waiting(), [], "carried")
                _ = try await repository.apply(.of([theirs], token: "t1"))
                try ContractViolation.requireEqual(await repository.record(.shed), theirs, "in force")
                try await repository.adopt(lab, .another(bringsAll: false))
                try ContractViolation.requireEqual(
                    await repository.record(.shed)?.deletion, deletion, "after the return")
                try ContractViolation.requireEqual(
                    await repository.waiting(), [SyncRecord(key: .shed, deletion: deletion)], "waiting there")
            }
        ]
    }

    private static var asideClauses: [Clause] {
        [
            Clause("aside_isNeitherEmptiedNorTold_byANewEpoch") { repository in
                try await repository.setAsideDesk()
                try await repository.adopt(epoch: "e2")
                try ContractViolation.requireEqual(await repository.waiting(), [], "told")
                try ContractViolation.requireEqual(await repository.parked(limit: 9).count, 1, "parked")
            },
            Clause("aside_leavesTheList_whenTheCloudListsItAsNew") { repository in
                try await repository.setAsideDesk()
                _ = try await repository.apply(.of([SyncRecord(.desk, ["a": (.int(0), .minute(0))])], token: "t2"))
                try ContractViolation.requireEqual(await repository.parked(limit: 9).count, 1, "older")
                _ = try await repository.apply(.of([SyncRecord(.desk, ["a": (.int(1), .minute(1))])], token: "t3"))
                try ContractViolation.requireEqual(
                    await repository.parked(limit: 9).map { $0.values.keys.sorted() }, [["b"]], "one of two")
                _ = try await repository.apply(.of([SyncRecord(.desk, [:], deleted: .minute(9))], token: "t4"))
                try ContractViolation.requireEqual(await repository.parked(limit: 9), [], "deleted")
            },
            Clause("aside_isRestoredWithItsOldStamps") { repository in
                try await repository.setAsideDesk()
                try await repository.set(.desk, "a", .int(9), at: .minute(5))
                let id = try ContractViolation.requireSome(await repository.parked(limit: 9).first?.id, "parked")
                guard case .restored(1, let restored) = try await repository.restoreParked(id) else {
                    throw ContractViolation(description: "not one property was restored")
                }
                try ContractViolation.requireEqual(restored.plain, MergeOutcome(changed: [.desk]), "restored")
                try ContractViolation.requireEqual(
                    await repository.values(of: .desk), ["a": .int(9), "b": .int(2)], "nothing newer is overwritten")
                try ContractViolation.requireEqual(
                    await repository.waiting().first?.properties["b"]?.stamp, .minute(1), "stamp")
                let again = try await repository.restoreParked(id)
                guard case .nothing = again else {
                    throw ContractViolation(description: "restored what is older: \(again)")
                }
                try ContractViolation.requireEqual(await repository.dropParked(id), true, "dropped")
                try ContractViolation.requireEqual(await repository.dropParked(id), false, "dropped twice")
                try ContractViolation.requireEqual(await repository.restoreParked(id), .unknown, "dropped")
            },
            Clause("aside_goesAfterThirtyConfirmedDays_unlessItWasMadeHere") { repository in
                try await repository.set(.shed, "name", .string("Shed"), at: .minute(1))
                try await repository.tellAll()
                let shed = try ContractViolation.requireSome(await repository.record(.shed), "record")
                _ = try await repository.apply(.of([shed], token: "t0"))
                try await repository.setAsideDesk()
                try ContractViolation.requireEqual(await repository.parked(limit: 9).count, 2, "parked")
                let day = 24 * 60
                for (days, dropped) in [(5000, 0), (5029, 0), (5031, 1), (5099, 0)] {
                    try ContractViolation.requireEqual(
                        await repository.ageParked(to: HostMoment.minute(days * day).wall), dropped, "on day \(days)")
                }
                try ContractViolation.requireEqual(await repository.parked(limit: 9).map(\.own), [true], "kept")
            },
        ]
    }

    private static var parkedClauses: [Clause] {
        [
            Clause("refused_isListedWithItsReason_andToldAgainWhenRestored") { repository in
                try await repository.set(.desk, "a", .int(1), at: .minute(0))
                let batch = try ContractViolation.requireSome(
                    await repository.nextBatch(recordsMax: 9, bytesMax: 10_000), "batch")
                _ = try await repository.settle(batch, .to(batch, failures: [.desk: .badRequest]))
                let parked = try await repository.parked(limit: 9)
                try ContractViolation.requireEqual(parked.map(\.reason), [.refused], "reason")
                try ContractViolation.requireEqual(parked.map(\.name), [RecordKey.desk.name], "name")
                try ContractViolation.requireEqual(
                    await repository.restoreParked(parked.first?.id ?? ""), .restored(properties: 1, MergeOutcome()),
                    "restored")
                try ContractViolation.requireEqual(await repository.progress().pending, 1, "pending")
                try ContractViolation.requireEqual(await repository.parked(limit: 9), [], "parked")
            },
            Clause("runs_areCountedOverRestarts") { repository in
                for _ in 0..<2 {
                    try await repository.runEnded(isComplete: false, at: HostMoment.minute(1).wall, serverTime: nil)
                }
                try ContractViolation.requireEqual(
                    await repository.progress().record, RunHistory(failures: 2), "failed")
                let now = HostMoment.minute(2).wall
                try await repository.runEnded(isComplete: true, at: now, serverTime: nil)
                try ContractViolation.requireEqual(
                    await repository.progress().record, RunHistory(lastSuccess: now), "complete")
            },
        ]
    }
}

extension SettingsRepository where Self: SyncRepository {
    fileprivate func tellAll() async throws {
        // Limit the number of batches, because a broken store would never empty its outbox.
        for _ in 0..<100 {
            guard let batch = try await nextBatch(recordsMax: 100, bytesMax: 1 << 20) else { return }
            _ = try await settle(batch, .to(batch))
        }
    }

    /// Makes the repository set another host's record aside, by a full resync without it.
    fileprivate func setAsideDesk() async throws {
        _ = try await apply(
            .of([SyncRecord(.desk, ["a": (.int(1), .minute(1)), "b": (.int(2), .minute(1))])], token: "t1"))
        try await beginRefetch(of: .deviceSettings)
        _ = try await apply(.of([], token: "r1"))
    }
}
