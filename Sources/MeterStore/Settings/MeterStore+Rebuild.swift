package import Domain
import GRDB
package import Gateway
package import GatewayAPI

extension MeterStore {
    package func rebuildProgress() async throws(StoreError) -> RebuildProgress {
        try await access("read") { db in try RebuildProgress(db) }
    }

    package func rebuildStep(
        recordsMax: Int, at now: WallTime
    ) async throws(StoreError) -> (progress: RebuildProgress, merge: MergeOutcome) {
        let step = try await changeSettings(learned: now, isOneOfMany: true) {
            transaction -> (progress: RebuildProgress, merge: MergeOutcome) in
            var progress = try RebuildProgress(transaction.db)
            guard !progress.isComplete else { return (progress, MergeOutcome()) }
            let keys = try transaction.keys(after: progress.cursor, limit: max(recordsMax, 1))
            for key in keys {
                progress.cursor = key
                progress.scanned += 1
                guard key.normalised != key, let fold = try transaction.fold(key) else { continue }
                progress.folded += 1
                try transaction.store(fold)
            }
            progress.isComplete = keys.count < max(recordsMax, 1)
            try progress.save(transaction.db)
            return (progress, try transaction.finished())
        }
        if step.progress.isComplete { try await access("written") { [self] in try tune($0, isMuchWritten: false) } }
        return step
    }

    package func rebuildReport() async throws(StoreError) -> RebuildReportBody {
        try await settings { transaction in
            var report = RebuildReportBody()
            var cursor: RecordKey?
            while true {
                let keys = try transaction.keys(after: cursor, limit: 1000)
                guard let last = keys.last else { return report }
                cursor = last
                report.scanned += keys.count
                for key in keys where key.normalised != key {
                    guard let fold = try transaction.fold(key) else { continue }
                    report.folded += 1
                    if report.examples.count < RebuildReportBody.examplesMax { report.examples.append(.init(fold)) }
                }
            }
        }
    }
}

extension SettingsTransaction {
    func keys(after cursor: RecordKey?, limit: Int) throws -> [RecordKey] {
        var keys: [RecordKey] = []
        for type in RebuildPlan.types where keys.count < limit {
            var after = ""
            if let cursor {
                guard let here = RebuildPlan.types.firstIndex(of: type),
                    let there = RebuildPlan.types.firstIndex(of: cursor.type), here >= there
                else { continue }
                if here == there { after = cursor.name }
            }
            // An empty `after` means the beginning, because names are never empty (`RecordFault.name`). The condition
            // `? IS NULL OR name > ?` would always search from the type's first record.
            let statement = try db.cachedStatement(
                sql: "SELECT name FROM record WHERE type = ? AND name > ? ORDER BY name LIMIT ?")
            let names = try String.fetchAll(statement.bound(type.rawValue, after, Int64(limit - keys.count)))
            keys += names.map { RecordKey(type: type, name: $0) }
        }
        return keys
    }

    /// Merges a record into the record with the normal form of its key; nil if the key has its normal form, or the
    /// record is missing or only a deletion.
    mutating func fold(_ key: RecordKey) throws -> RebuildPlan.Fold? {
        guard let loser = try record(key) else { return nil }
        return RebuildPlan.fold(loser, into: try record(key.normalised))
    }

    mutating func store(_ fold: RebuildPlan.Fold) throws {
        for merge in [fold.loser, fold.canonical] {
            try store(merge)
            try tell(merge)
        }
        try remember(fold.outdone, of: fold.canonical.after.key)
    }
}

extension RebuildProgress {
    /// Reads the stored progress; begins anew if another version stored it.
    fileprivate init(_ db: Database) throws {
        self.init(version: RebuildPlan.version)
        let row = try Row.fetchOne(
            db,
            sql: "SELECT cursor_type, cursor_name, scanned, folded, is_complete FROM rebuild WHERE version = ?",
            arguments: [RebuildPlan.version])
        guard let row else { return }
        if let type = row[0] as String?, let name = row[1] as String? {
            cursor = RecordKey(type: RecordType(rawValue: type), name: name)
        }
        scanned = row[2]
        folded = row[3]
        isComplete = row[4]
    }

    fileprivate func save(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE rebuild SET version = ?, cursor_type = ?, cursor_name = ?, scanned = ?, folded = ?,
                    is_complete = ?
                """, arguments: [version, cursor?.type.rawValue, cursor?.name, scanned, folded, isComplete])
    }
}

extension RebuildReportBody.Example {
    fileprivate init(_ fold: RebuildPlan.Fold) {
        let (from, taken) = (fold.loser.after.key, Set(fold.canonical.news))
        self.init(
            type: from.type.rawValue, from: from.name, into: fold.canonical.after.key.name, moved: fold.canonical.news,
            kept: fold.loser.before.properties.keys.filter { !taken.contains($0) }.sorted())
    }
}
