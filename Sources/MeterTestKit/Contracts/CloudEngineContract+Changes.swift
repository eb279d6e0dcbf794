import Cloud
import CloudAPI
import Domain

extension CloudEngineContract {
    static func readAll(
        _ engine: any CloudEngine, of type: RecordType = .deviceSettings, after token: ChangeToken? = nil,
        limit: Int = 400
    ) async throws -> (records: [SyncRecord], token: ChangeToken) {
        var records: [SyncRecord] = []
        var token = token
        while true {
            let page = try await engine.changes(of: type, in: zone, after: token, limit: limit)
            try ContractViolation.require(page.records.count <= limit, "a page of \(page.records.count)")
            records += page.records
            guard page.moreComing else { return (records, page.token) }
            try ContractViolation.require(!page.records.isEmpty, "an empty page, and more coming")
            token = page.token
        }
    }

    static var changeClauses: [Clause] {
        [
            inZone("changes_areNone_atFirst") { engine in
                let page = try await engine.changes(of: .host, in: zone, after: nil, limit: 10)
                try ContractViolation.requireEqual(page.records, [], "records")
                try ContractViolation.require(!page.moreComing, "more is coming")
                try ContractViolation.requireEqual(page.token.epoch, await engine.epoch, "epoch")
                try ContractViolation.requireEqual(page.token.sequence, 0, "sequence")
            },
            inZone("changes_comeInPages_eachRecordOnce_atItsNewestPlace") { engine in
                for index in 0..<10 { _ = try await engine.modify([record("m\(index)")], in: zone, now: now) }
                _ = try await engine.modify([record("m3", at: 1), record("h", type: .host)], in: zone, now: now)
                let names = [0, 1, 2, 4, 5, 6, 7, 8, 9, 3].map { "m\($0)" }
                for limit in [1, 3, 5, 9, 10, 11] {
                    let all = try await readAll(engine, limit: limit)
                    try ContractViolation.requireEqual(all.records.map(\.key.name), names, "in pages of \(limit)")
                    let more = try await engine.changes(of: .deviceSettings, in: zone, after: all.token, limit: limit)
                    try ContractViolation.requireEqual(more.records, [], "after the last, in pages of \(limit)")
                    try ContractViolation.requireEqual(more.token, all.token, "the token stays")
                }
                let hosts = try await readAll(engine, of: .host)
                try ContractViolation.requireEqual(hosts.records, [record("h", type: .host)], "of another type")
            },
            inZone("changes_areTheNewOnes_afterAToken") { engine in
                _ = try await engine.modify([record("m1"), record("m2"), record("m3")], in: zone, now: now)
                let token = try await readAll(engine).token
                _ = try await engine.modify(
                    [record("m2", at: 1), record("m1"), record("m3", [:], deletedAt: 1)], in: zone, now: now)
                let news = try await readAll(engine, after: token).records
                try ContractViolation.requireEqual(
                    news, [record("m2", at: 1), record("m3", [:], deletedAt: 1)], "news")
            },
            inZone("changes_missNothing_whileWritersRun") { engine in
                let (writers, rounds) = (8, 25)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<writers {
                        group.addTask {
                            for round in 0..<rounds {
                                let batch = [
                                    record("m\(writer)", ["n": Int64(round)], at: Int64(round)),
                                    record("m\(writer)-\(round)"),
                                    record("shared", ["w\(writer)": Int64(round)], at: Int64(round)),
                                ]
                                _ = try await engine.modify(batch, in: zone, now: now)
                            }
                        }
                    }
                    group.addTask {
                        var (seen, token) = ([RecordKey: SyncRecord](), ChangeToken?.none)
                        var pages = 0
                        var patience = Patience("the next write is seen")
                        while seen.count < writers * (rounds + 1) + 1 || pages == 0 {
                            let news = try await readAll(engine, after: token, limit: 7)
                            for record in news.records {
                                let known = seen[record.key]
                                try ContractViolation.require(
                                    known.map { record.merged(with: $0) == record } ?? true, "\(record.key) went back")
                                seen[record.key] = record
                            }
                            token = news.token
                            pages += 1
                            if !news.records.isEmpty { patience = Patience("the next write is seen") }
                            // Stop if a writer has failed: its error cancels the group.
                            try Task.checkCancellation()
                            try await patience.turn()
                        }
                    }
                    try await group.waitForAll()
                }
                let all = try await readAll(engine).records
                try ContractViolation.requireEqual(all.count, writers * (rounds + 1) + 1, "records")
                let shared = all.first { $0.key.name == "shared" }
                try ContractViolation.requireEqual(shared?.properties.count, writers, "nobody's write was lost")
            },
        ]
    }

    static var tokenClauses: [Clause] {
        [
            inZone("token_isExpired_whenOfAnotherEpoch") { engine in
                let epoch = try await engine.epoch
                do {
                    let token = ChangeToken(epoch: epoch + "-old", sequence: 0)
                    _ = try await engine.changes(of: .host, in: zone, after: token, limit: 1)
                } catch let failure as CloudFailure {
                    try ContractViolation.requireEqual(failure.code, .changeTokenExpired, "code")
                    try ContractViolation.requireEqual(failure.epoch, epoch, "the present epoch")
                    return
                }
                throw ContractViolation(description: "nothing was thrown")
            },
            inZone("token_isExpired_whenOfAFutureThatNeverWas") { engine in
                let token = ChangeToken(epoch: try await engine.epoch, sequence: 1)
                try await requireFailure(.changeTokenExpired, "changes") {
                    _ = try await engine.changes(of: .host, in: zone, after: token, limit: 1)
                }
            },
            inZone("tokens_growForEver") { engine in
                var last = ChangeToken(epoch: try await engine.epoch, sequence: 0)
                for round in 0..<20 {
                    let name = round % 2 == 0 ? "m" : "other \(round)"
                    _ = try await engine.modify([record(name, at: Int64(round))], in: zone, now: now)
                    let token = try await readAll(engine, after: last, limit: 1).token
                    try ContractViolation.require(token.sequence > last.sequence, "\(token) after \(last)")
                    last = token
                }
            },
        ]
    }
}
