import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Testing

/// A store whose file was copied, used, and put back.
struct TimelineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Each run with random numbers of its own.
    private func open(_ directory: String, run: UInt64) throws -> SQLiteCloudEngine {
        var rng = CountingRNG(last: run * 1000)
        return try SQLiteCloudEngine.open(directory: directory, now: .origin, rng: &rng)
    }

    private func write(_ names: [String], to engine: SQLiteCloudEngine) async throws {
        for name in names { _ = try await engine.modify([Sample.record(name)], in: "home", now: Sample.now) }
    }

    private func page(
        of engine: SQLiteCloudEngine, after token: ChangeToken? = nil, limit: Int = 100
    ) async throws -> ChangeList {
        try await engine.changes(of: .deviceSettings, in: "home", after: token, limit: limit)
    }

    private func expectLost(_ tokens: [ChangeToken], by engine: SQLiteCloudEngine) async throws {
        for token in tokens {
            let failure = await #expect(throws: CloudFailure.self, "\(token)") {
                try await page(of: engine, after: token)
            }
            #expect(failure?.code == .timelineLost)
        }
    }

    /// Writes five changes, and returns what hosts hold after each of them: at the end of a page, and in its middle.
    private func future(of engine: SQLiteCloudEngine) async throws -> [ChangeToken] {
        var tokens: [ChangeToken] = []
        for number in 0..<5 {
            try await write(["lost \(number)"], to: engine)
            tokens.append(try await page(of: engine).token)
            tokens.append(try await page(of: engine, limit: 1).token)
        }
        return tokens
    }

    @Test(arguments: [true, false])
    func tokensOfTheLostFuture_areLost_alsoAfterOthersWrotePastThem(inOneRun: Bool) async throws {
        var engine = try open(folder.cloud, run: 1)
        _ = try await engine.createZone("home", terms: .standard)
        try await write(["m1", "m2"], to: engine)
        let good = try await page(of: engine, limit: 1).token
        let copy = try folder.copyCloud(as: "copy")
        if !inOneRun {
            try engine.close()
            engine = try open(folder.cloud, run: 2)
        }
        let lost = try await future(of: engine)
        try engine.close()

        let back = try open(copy, run: 3)

        try await expectLost(lost, by: back)
        for number in 0..<10 {
            try await write(["new \(number)"], to: back)
            try await expectLost(lost, by: back)
        }
        let rest = try await page(of: back, after: good)
        #expect(rest.records.map(\.key.name) == ["m2"] + (0..<10).map { "new \($0)" })
        try back.close()
    }

    @Test func runsOneAfterTheOther_loseNoToken() async throws {
        var tokens: [ChangeToken] = []
        for run in 1...5 as ClosedRange<UInt64> {
            let engine = try open(folder.cloud, run: run)
            _ = try await engine.createZone("home", terms: .standard)
            tokens.append(try await page(of: engine).token)
            try await write(["a \(run)", "b \(run)"], to: engine)
            tokens.append(try await page(of: engine, limit: 1).token)
            for token in tokens { _ = try await page(of: engine, after: token) }
            #expect(tokens.last?.origin?.mark == run)
            try engine.close()
        }
    }

    @Test func marks_goWithThePurge_butForThoseThatGoodTokensName() async throws {
        for run in 1...4 as ClosedRange<UInt64> {
            let engine = try open(folder.cloud, run: run)
            _ = try await engine.createZone("home", terms: .standard)
            // The last tombstone is the fifth change, in the third run.
            let deletes = run < 4
            _ = try await engine.modify(
                [deletes ? Sample.tombstone("t\(run)") : Sample.record("m"), Sample.record("r\(run)")], in: "home",
                now: Sample.now)
            try engine.close()
        }
        let engine = try open(folder.cloud, run: 9)

        _ = try await engine.purgeTombstones(before: Sample.now + .seconds(1))

        #expect(try await engine.contents().zones.first?.marks.map(\.number) == [3, 4])
        #expect(try await engine.contents().zones.first?.marks.map(\.first) == [5, 7])
        try engine.close()
    }

    @Test func writesWithoutNews_leaveNoMark_andTokensStay() async throws {
        var engine = try open(folder.cloud, run: 1)
        _ = try await engine.createZone("home", terms: .standard)
        try await write(["m1"], to: engine)
        let token = try await page(of: engine).token
        try engine.close()
        engine = try open(folder.cloud, run: 2)

        try await write(["m1"], to: engine)

        #expect(try await page(of: engine).token == token)
        #expect(try await engine.contents().zones.first?.marks.map(\.number) == [1])
        try engine.close()
    }

    /// As the first version left it.
    private func makeFirstVersion() async throws {
        let engine = try open(folder.cloud, run: 1)
        for zone in ["home", "lab"] { _ = try await engine.createZone(zone, terms: .standard) }
        try await write(["m1", "m2"], to: engine)
        try engine.close()
        try folder.file.edit(
            """
            DROP TABLE timeline; ALTER TABLE zone DROP COLUMN identity;
            DELETE FROM grdb_migrations WHERE identifier LIKE '% identities and timelines of zones'
            """)
    }

    @Test func storeOfTheFirstVersion_getsIdentities_andServesItsTokens() async throws {
        try await makeFirstVersion()
        let copy = try folder.copyCloud(as: "copy")

        let engine = try open(folder.cloud, run: 2)

        let ids = try await engine.zones().map(\.id)
        #expect(Set(ids).count == 2)
        let old = ChangeToken(epoch: engine.epoch, sequence: 1)
        let next = try await page(of: engine, after: old)
        #expect(next.records.map(\.key.name) == ["m2"])
        #expect(next.token.origin?.mark == 0)
        try await write(["m3"], to: engine)
        #expect(try await page(of: engine, after: next.token).records.map(\.key.name) == ["m3"])
        try engine.close()
        // A backup from before that is restored has the same zones.
        let again = try open(copy, run: 7)
        #expect(try await again.zones().map(\.id) == ids)
        try again.close()
    }
}
