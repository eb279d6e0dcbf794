package import Cloud
import Cryptography
package import Domain
import FoundationEssentials
package import Logging

/// Backup file of a cloud in etcd at one revision: a line for the store, a line for each key and value, and a digest of
/// all previous lines.
package struct EtcdBackup: Sendable {
    private static let form = "metercloud-etcd-backup-1"

    private var written: WallTime
    private var epoch: String
    private var tokenFloor: UInt64
    /// Keys and values. The keys are without the store's prefix.
    var entries: [EtcdPut]

    /// Writes all keys of `StoreKeys.lastingKinds`, as of one revision.
    ///
    /// - Parameter write: receives the next part of the file.
    package static func write(
        of engine: EtcdCloudEngine, at now: WallTime, _ write: ([UInt8]) throws -> Void
    ) async throws {
        let keys = engine.keys
        let (revision, found) = try await engine.client.read([EtcdRange(key: keys.tokenFloor)])
        let floor = found[0].entries.first.map { String(decoding: $0.value, as: UTF8.self) } ?? "0"
        let head = Array("\(form) \(now.millisecondsSince1970) \(engine.epoch) \(floor)".utf8)
        var digest = SHA256.digest(head)
        try write(head + [UInt8(ascii: "\n")])
        for kind in keys.lastingKinds {
            try await engine.client.readAll(EtcdRange(prefix: kind).at(revision)) { entry in
                var line: [UInt8] = []
                Base64.write(Array(entry.key.dropFirst(keys.prefix.count)), to: &line)
                line.append(UInt8(ascii: " "))
                Base64.write(entry.value, to: &line)
                digest = SHA256.digest(digest + line)
                try write(line + [UInt8(ascii: "\n")])
            }
        }
        try write(Array("end \(Hex.encode(digest))\n".utf8))
    }

    /// - Throws: `damaged` if the file is incomplete or not a backup.
    package init(path: String) throws {
        let damaged = EtcdError(.damaged, "\(path) is not a whole backup of a cloud in etcd. Use another one")
        let lines = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let head = String(decoding: lines[0], as: UTF8.self).split(separator: " ")
        guard lines.count > 2, head.count == 4, head[0] == Self.form, let date = Int64(head[1]),
            let floor = UInt64(head[3])
        else { throw damaged }
        (written, epoch, tokenFloor) = (WallTime(millisecondsSince1970: date), String(head[2]), floor)
        entries = []
        var digest = SHA256.digest(Array(lines[0]))
        for line in lines.dropFirst().dropLast(2) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count == 2, let key = Base64.read(words[0]), let value = Base64.read(words[1]) else {
                throw damaged
            }
            digest = SHA256.digest(digest + line)
            entries.append(EtcdPut(key: key, value: value))
        }
        let end = Data("end \(Hex.encode(digest))".utf8)
        guard lines[lines.count - 2] == end, lines[lines.count - 1].isEmpty else { throw damaged }
    }

    /// Restores into an etcd that has no cloud under this prefix. No replica opens the store before the end. An
    /// interrupted restore can be repeated.
    ///
    /// - Parameter ignoresClock: accepts a system clock that is behind the backup's date.
    package func restore(
        to settings: EtcdSettings, at now: WallTime, ignoresClock: Bool, clock: CloudClock,
        rng: inout some RandomNumberGenerator, logger: Logger
    ) async throws -> EtcdRestore {
        guard ignoresClock || now >= written else {
            throw EtcdError(
                .badSetting,
                "the backup is from \(written), and this machine's clock says \(now). Set the clock, then restore; or "
                    + "restore with --ignore-clock, should the backup's date be the wrong one")
        }
        let client = try EtcdClient(settings, clock: clock, logger: logger)
        let (attempt, epoch) = (UniqueID<Never>(using: &rng).description, UniqueID<Never>(using: &rng).description)
        let gate = MigrationLock(client: client, keys: StoreKeys(prefix: settings.prefix), prefix: settings.prefix)
        let result: Result<EtcdRestore, any Error>
        do {
            result = .success(try await bring(through: gate, attempt: attempt, as: epoch, at: max(now, written)))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        return try result.get()
    }

    private func bring(
        through gate: MigrationLock, attempt: String, as newEpoch: String, at now: WallTime
    ) async throws -> EtcdRestore {
        let puts = entries.map { EtcdPut(key: gate.keys.prefix + $0.key, value: $0.value) }
        let tokens = try puts.filter { $0.key.starts(with: gate.keys.allLeases) }
            .map { try StoredLease(EtcdEntry(key: $0.key, value: $0.value, revision: 0)).token }
        let floor = EtcdRestore.floor(above: tokens.max() ?? 0, tokenFloor, at: now)
        var contents = StoreContents(
            epoch: epoch, tokenFloor: FencingToken(rawValue: floor), isRestoring: true, zones: [], credentials: [],
            destination: nil)
        guard let revision = try await gate.begin(contents, attempt: attempt) else {
            throw EtcdError.anotherMove(prefix: gate.prefix)
        }
        try await gate.clear(revision)
        var load = ArrivalLoad(client: gate.client, guarding: EtcdCompare(key: gate.keys.arriving, revision: revision))
        try await load.put(puts)
        try await load.check(gate.keys)
        contents.epoch = newEpoch
        try await gate.open(contents, revision)
        return EtcdRestore(epoch: newEpoch, tokenFloor: floor, leases: tokens.count)
    }
}

extension EtcdCloudEngine {
    /// Time after which another replica's unfinished backup no longer delays this one: that replica may have stopped.
    private static let turnLasts = Duration.seconds(3600)

    package func lastBackup() async throws -> WallTime? { try await backupMark().good }

    /// Returns whether a backup is due, and reserves it for this replica. Clock differences only cause an extra or a
    /// late backup.
    package func takeBackup(every: Duration, at now: WallTime) async throws -> Bool {
        let mark = try await backupMark()
        let isDone = mark.good.map { $0 <= now && now < $0 + every } ?? false
        let isBegun = mark.begun.map { $0 <= now && now < $0 + min(every, Self.turnLasts) } ?? false
        guard !isDone, !isBegun else { return false }
        let change = EtcdTransaction(
            compares: [EtcdCompare(key: keys.backup, revision: mark.revision)], success: [noting(mark.good, now)])
        return try await client.commit(change).succeeded
    }

    package func keepBackup(at date: WallTime) async throws {
        _ = try await client.commit(EtcdTransaction(success: [noting(date, date)]))
    }

    private func noting(_ good: WallTime?, _ begun: WallTime) -> EtcdOperation {
        let text = "\(good?.millisecondsSince1970.description ?? "-") \(begun.millisecondsSince1970)"
        return .put(key: keys.backup, value: Array(text.utf8))
    }

    private func backupMark() async throws -> (good: WallTime?, begun: WallTime?, revision: Int64) {
        let entry = try await client.read([EtcdRange(key: keys.backup)]).ranges[0].entries.first
        let words = String(decoding: entry?.value ?? [], as: UTF8.self).split(separator: " ").map { Int64($0) }
        let dates = words.map { $0.map { WallTime(millisecondsSince1970: $0) } }
        return (dates.first ?? nil, dates.last ?? nil, entry?.revision ?? 0)
    }
}
