package import Domain
import GRDB
package import Gateway
package import MeterStore
import MeterTestKit
import Synchronization

/// What a store's accesses go through in a test: they are counted, and those that write fail when the test says so.
package final class ScriptedAccess: Sendable {
    private let state = Mutex<(reads: Int, writes: Int, failure: StoreError?, left: Int)>((0, 0, nil, 0))

    package init() {}

    /// Makes every access that writes throw `error` after the next `count`; nil ends that.
    package func failWrites(with error: StoreError?, after count: Int = 0) {
        state.withLock { ($0.failure, $0.left) = (error, count) }
    }

    package var reads: Int { state.withLock { $0.reads } }
    /// How often anything was to be written, including failed accesses.
    package var writes: Int { state.withLock { $0.writes } }

    fileprivate func pass(_ action: String) throws(StoreError) {
        let failure = state.withLock { state -> StoreError? in
            guard action == "written" else {
                state.reads += 1
                return nil
            }
            state.writes += 1
            guard state.left == 0 else {
                state.left -= 1
                return nil
            }
            return state.failure
        }
        if let failure { throw failure }
    }
}

extension MeterStore {
    /// A new store in a folder of its own, which goes with it.
    package static func temporary(of host: HostID = .temporary, through access: ScriptedAccess = .init()) -> MeterStore
    {
        do {
            let folder = try TemporaryFolder()
            let path = folder.path + "/meters.db"
            try folder.write(newFile(of: host), to: path)
            var options = Options()
            options.onAccess = { [folder] action throws(StoreError) in
                _ = folder
                try access.pass(action)
            }
            return try open(path: path, options: options)
        } catch {
            preconditionFailure("there is no room for a store: \(error)")
        }
    }

    private static let newFiles = Mutex<[HostID: [UInt8]]>([:])

    /// The file of a new store: copying it is several times faster than laying it out.
    private static func newFile(of host: HostID) throws -> [UInt8] {
        try newFiles.withLock { files in
            if let file = files[host] { return file }
            let folder = try TemporaryFolder()
            let path = folder.path + "/meters.db"
            try open(path: path).close()
            try StoreFile(path).edit("UPDATE host SET id = '\(host)'")
            let file = try folder.bytes(of: path)
            files[host] = file
            return file
        }
    }

    /// Stores records without looking at their names, as an earlier version left them.
    package func plant(_ records: [SyncRecord]) throws {
        let file = try DatabaseQueue(path: path)
        try file.write { db in
            for record in records {
                try db.execute(
                    sql: "INSERT INTO record (type, name) VALUES (?, ?)",
                    arguments: [record.key.type.rawValue, record.key.name])
                let id = db.lastInsertedRowID
                for (property, register) in record.properties {
                    let (kind, value): (String, (any DatabaseValueConvertible)?) =
                        switch register.value {
                        case .null: ("null", nil)
                        case .bool(let value): ("bool", value)
                        case .int(let value): ("int", value)
                        case .double(let value): ("double", value)
                        case .string(let value): ("string", value)
                        }
                    let stamp = register.stamp
                    try db.execute(
                        sql: """
                            INSERT INTO register (record, property, kind, value, stamp_ms, stamp_counter, stamp_host)
                            VALUES (?, ?, ?, ?, ?, ?, ?)
                            """,
                        arguments: [
                            id, property, kind, value, Int64(stamp.milliseconds), Int64(stamp.counter),
                            stamp.host.description,
                        ])
                }
            }
        }
        try file.close()
    }
}

extension HostID {
    /// The host of a temporary store.
    package static let temporary = HostID(high: 0x4000, low: 0x8000_0000_0000_0001)
}
