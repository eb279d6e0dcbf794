import Domain

/// What must hold once everybody has pushed and read everything.
extension Schedule {
    mutating func checkEnd() {
        guard failure == nil else { return }
        checkAllEqual()
        checkNobodysEditIsLost()
        if trouble.isDisjoint(with: [.purge, .olderNames]) { checkNewestWins() }
        if trouble.contains(.olderNames) { checkFolded() }
    }

    private mutating func checkAllEqual() {
        let expected = comparable(cloud.entries.mapValues(\.record))
        for replica in replicas where comparable(replica.records) != expected {
            fail("host \(replica.index) and the cloud differ: \(comparable(replica.records)) is not \(expected)")
        }
    }

    /// Leaves out tombstones if the cloud forgets them, because it then knows fewer than the hosts.
    private func comparable(_ records: [RecordKey: SyncRecord]) -> [RecordKey: SyncRecord] {
        trouble.contains(.purge) ? records.filter { !$0.value.isTombstone } : records
    }

    /// Checks everything that the cloud ever accepted, without using the merge: for each property the greatest stands,
    /// unless it was deleted.
    private mutating func checkNewestWins() {
        for (key, parts) in cloud.log {
            let deleted = parts.compactMap(\.deletion?.stamp).max()
            var expected: [String: Register] = [:]
            for (name, register) in parts.flatMap(\.properties) where deleted.map({ register.stamp > $0 }) ?? true {
                let isGreatest = expected[name].map { ($0.stamp, $0.value) < (register.stamp, register.value) } ?? true
                if isGreatest { expected[name] = register }
            }
            let found = cloud.entries[key]?.record
            if found?.properties != expected || found?.deletion?.stamp != deleted {
                fail(
                    "\(key.name) is not made of the newest: \(String(describing: found)), deleted \(String(describing: deleted)), \(expected)"
                )
            }
        }
    }

    /// Each edit stands, or something with a stamp at least as great took its place.
    private mutating func checkNobodysEditIsLost() {
        for (index, edit) in edits.enumerated() where !isReplacedAtHome(index) {
            guard let property = edit.pending.property else {
                if !trouble.contains(.purge), deletion(of: edit.pending.key) < edit.pending.stamp {
                    fail("a deletion is lost: \(edit)")
                }
                continue
            }
            let key = edit.pending.key.normalised
            let winner = cloud.entries[key]?.record.properties[property]?.stamp
            if let winner, winner >= edit.pending.stamp { continue }
            if deletion(of: key) >= edit.pending.stamp || wasDeletedByPerson(edit) { continue }
            if isHiddenByFold(edit) { continue }
            fail("an edit is lost: \(edit), found \(String(describing: cloud.entries[key]?.record))")
        }
    }

    /// Whether the same host wrote or deleted the same again, before or after it was pushed: then that edit is checked
    /// instead.
    private func isReplacedAtHome(_ index: Int) -> Bool {
        let edit = edits[index]
        return edits[(index + 1)...].contains { later in
            guard later.replica == edit.replica, later.pending.key == edit.pending.key else { return false }
            return later.pending.property == edit.pending.property || later.pending.property == nil
        }
    }

    /// The greatest deletion that the cloud knows or once knew.
    private func deletion(of key: RecordKey) -> Stamp {
        let known =
            cloud.log[key, default: []].compactMap(\.deletion?.stamp)
            + [cloud.entries[key]?.record.deletion?.stamp].compactMap { $0 }
        return known.max() ?? Stamp(milliseconds: 0, counter: 0, host: replicas[0].clock.host)
    }

    /// Whether a person deleted the record under this very name.
    private func wasDeletedByPerson(_ edit: Edit) -> Bool {
        edits.contains {
            $0.pending.key == edit.pending.key && $0.pending.property == nil && $0.pending.stamp >= edit.pending.stamp
        }
    }

    /// The one remaining gap: an older host pushed an edit to an old name after others had folded younger ones of that
    /// name (Docs say so).
    private mutating func isHiddenByFold(_ edit: Edit) -> Bool {
        guard trouble.contains(.olderHost), edit.wasOlder, replicas[edit.replica].isOlder else { return false }
        guard edit.pending.key != edit.pending.key.normalised, deletion(of: edit.pending.key) >= edit.pending.stamp
        else { return false }
        hiddenByFold += 1
        return true
    }

    private mutating func checkFolded() {
        for entry in cloud.entries.values where entry.record.key != entry.record.key.normalised {
            if !entry.record.properties.isEmpty { fail("\(entry.record) was not folded") }
        }
        guard trouble.isDisjoint(with: [.deletions, .olderHost]) else { return }
        // Nobody deleted anything: the newest of all names stands.
        let parts = cloud.log.values.flatMap { $0 }.flatMap(\.properties)
        let expected = Dictionary(parts, uniquingKeysWith: { max($0, $1) })
        let key = RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:FF")
        let found = cloud.entries[key]?.record.properties ?? [:]
        if found != expected { fail("the canonical record is \(found), not \(expected)") }
    }
}
