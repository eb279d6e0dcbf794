import Domain

/// How a replica or the cloud merges a record: the real merge, or a mistake that the checks must find.
enum MergeRule: Sendable, CaseIterable {
    case real
    /// `>=` for `>`: of two equal stamps, the one that arrives later wins.
    case laterArrivalWinsTies
    /// Stamps are ignored: whatever arrives last wins.
    case laterArrivalWins
    /// A deletion hides what is there when it arrives, and nothing later.
    case deletionHidesByArrival

    func merge(_ incoming: SyncRecord, into current: inout SyncRecord) {
        switch self {
        case .real: current.merge(incoming)
        case .laterArrivalWinsTies: merge(incoming, into: &current) { $0.stamp >= $1.stamp }
        case .laterArrivalWins: merge(incoming, into: &current) { _, _ in true }
        case .deletionHidesByArrival:
            guard let deletion = incoming.deletion, deletion > current.deletion ?? deletion || current.deletion == nil
            else {
                merge(incoming, into: &current) { $0 > $1 }
                return
            }
            current = SyncRecord(key: current.key, properties: incoming.properties, deletion: deletion)
        }
    }

    private func merge(_ incoming: SyncRecord, into current: inout SyncRecord, wins: (Register, Register) -> Bool) {
        var properties = current.properties
        for (name, theirs) in incoming.properties {
            if let mine = properties[name], !wins(theirs, mine) { continue }
            properties[name] = theirs
        }
        let deletion = [current.deletion, incoming.deletion].compactMap { $0 }.max()
        current = SyncRecord(key: current.key, properties: properties, deletion: deletion)
    }
}
