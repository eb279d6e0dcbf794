import Domain

/// A deletion of a zone that the host has left.
struct DeletionElsewhere {
    var deletion: Deletion
    /// When it was learned of, by the wall clock.
    var learned: Int64?
    /// It was never told there.
    var isPending: Bool
}

/// Leaving a zone for another one: Docs/Decisions/0013.
extension Replica {
    /// What was made on this host comes along; deletions stay behind, and what else is known is set aside.
    mutating func leave(_ left: String, bug: PlantedBug?) {
        if bug != .carriesDeletions { keepDeletionsApart(left) }
        for (key, record) in records {
            let isOwn = record.properties.values.contains { $0.stamp.host == clock.host }
            let isBrought = isOwn && bug != .leavesOwnBehind
            if !isBrought, !record.properties.isEmpty {
                aside[key, default: [:]].merge(record.properties) { $0.stamp > $1.stamp ? $0 : $1 }
                records[key] = record.deletion.map { SyncRecord(key: key, deletion: $0) }
            }
            if records[key]?.properties.isEmpty == true, records[key]?.deletion == nil { records[key] = nil }
        }
        outbox.removeAll { waiting in
            guard let property = waiting.property else { return records[waiting.key]?.deletion == nil }
            return records[waiting.key]?.properties[property] == nil
        }
    }

    private mutating func keepDeletionsApart(_ left: String) {
        var kept: [RecordKey: DeletionElsewhere] = [:]
        for (key, record) in records {
            guard let deletion = record.deletion else { continue }
            let isPending = outbox.contains { $0.key == key && $0.property == nil }
            kept[key] = DeletionElsewhere(deletion: deletion, learned: learned[key], isPending: isPending)
            learned[key] = nil
            records[key] = SyncRecord(key: key, properties: record.properties)
        }
        deletionsElsewhere[left] = kept
    }

    /// Deletions of that zone are in force again. Those that were never told there wait again, as everything does.
    mutating func comeBack(to zone: String) {
        for (key, kept) in deletionsElsewhere.removeValue(forKey: zone) ?? [:] {
            let change = SyncRecord(key: key, deletion: kept.deletion)
            records[key] = records[key]?.merged(with: change) ?? change
            if learned[key] == nil { learned[key] = kept.learned }
            unqueueOverwritten(of: key)
        }
    }
}
