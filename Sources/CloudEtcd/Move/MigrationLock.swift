import Cloud
import Domain

/// Prevents replicas from opening a store in etcd before a move into it is complete.
///
/// `m/arriving` names the source store and the attempt. While it exists, no replica opens the store. Every step
/// requires it unchanged.
struct MigrationLock: Sendable {
    /// Value that a move writes where a replica would write its name.
    static let writer = "move"

    let client: EtcdClient
    let keys: StoreKeys
    let prefix: String

    /// Shown to users; also identifies an interrupted move.
    var destination: String { "etcd (\(client.settings.urls.first ?? ""), prefix \(prefix))" }

    /// - Returns: the revision of `m/arriving`, which every step requires; nil if an earlier attempt moved everything.
    func begin(_ contents: StoreContents, attempt: String) async throws -> Int64? {
        var anything = EtcdRange(prefix: keys.prefix)
        anything.limit = 1
        let found = try await client.read([
            EtcdRange(key: keys.epoch), EtcdRange(key: keys.arriving), anything,
        ]).ranges
        if let entry = found[0].entries.first {
            guard contents.destination != nil, entry.value == Array(contents.epoch.utf8) else {
                throw EtcdError(
                    .badSetting,
                    "etcd has a cloud under the prefix \(prefix) already. Give --etcd-prefix with another one, or, where "
                        + "nobody needs what is there, etcdctl del --prefix \(prefix)")
            }
            return nil
        }
        let earlier = found[1].entries.first
        try check(earlier, isEmpty: found[2].entries.isEmpty, contents)
        var mark = EtcdTransaction(compares: [
            EtcdCompare(key: keys.epoch, revision: 0),
            EtcdCompare(key: keys.arriving, revision: earlier?.revision ?? 0),
        ])
        let value = Array("\(contents.epoch) \(attempt)".utf8)
        mark.success = [.put(key: keys.arriving, value: value)]
        _ = try await client.commit(mark)
        guard let entry = try await client.read([EtcdRange(key: keys.arriving)]).ranges[0].entries.first,
            entry.value == value
        else { throw busy }
        return entry.revision
    }

    private func check(_ earlier: EtcdEntry?, isEmpty: Bool, _ contents: StoreContents) throws(EtcdError) {
        guard let earlier else {
            guard isEmpty else {
                throw EtcdError(
                    .badSetting,
                    "etcd has something under the prefix \(prefix) that is not a cloud. Give --etcd-prefix with another one"
                )
            }
            guard let destination = contents.destination else { return }
            throw EtcdError(
                .badSetting,
                "this store moved to \(destination) before, and it is not there any more. Restore etcd's snapshot, see "
                    + "Docs/Scale.md; or make a new cloud of the file with metercloud restore, and move that")
        }
        guard String(decoding: earlier.value, as: UTF8.self).hasPrefix("\(contents.epoch) ") else {
            throw EtcdError(
                .badSetting,
                "another cloud is on its way to the prefix \(prefix). Finish that move first, or give --etcd-prefix with "
                    + "another one")
        }
    }

    func clear(_ revision: Int64) async throws(EtcdError) {
        for prefix in keys.allKinds {
            try await step([.deleteAll(prefix: prefix)], revision)
        }
    }

    func open(_ contents: StoreContents, _ revision: Int64) async throws {
        var operations: [EtcdOperation] = [
            .put(key: keys.epoch, value: Array(contents.epoch.utf8)), .delete(key: keys.arriving),
        ]
        let floor = contents.tokenFloor.rawValue
        if floor > 0 { operations.append(.put(key: keys.tokenFloor, value: Array(String(floor).utf8))) }
        if contents.isRestoring { operations.append(.put(key: keys.restoring, value: [])) }
        var last = EtcdTransaction(compares: [EtcdCompare(key: keys.arriving, revision: revision)], success: operations)
        last.failure = [.range(EtcdRange(key: keys.epoch))]
        let answer = try await client.commit(last)
        // If the stored epoch is ours, an earlier attempt's answer was lost.
        guard answer.succeeded || answer.range(0)?.entries.first?.value == Array(contents.epoch.utf8) else {
            throw busy
        }
    }

    private func step(_ operations: [EtcdOperation], _ revision: Int64) async throws(EtcdError) {
        let transaction = EtcdTransaction(
            compares: [EtcdCompare(key: keys.arriving, revision: revision)], success: operations)
        guard try await client.commit(transaction).succeeded else { throw busy }
    }

    private var busy: EtcdError { .anotherMove(prefix: prefix) }
}

extension EtcdError {
    static func anotherMove(prefix: String) -> EtcdError {
        EtcdError(
            .overloaded, "something else writes to etcd's prefix \(prefix). See that metercloud migrate runs once only")
    }
}
