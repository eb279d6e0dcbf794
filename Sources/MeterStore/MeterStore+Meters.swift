package import Domain
import GRDB
package import Gateway
import MeterCodec

extension MeterStore: MeterRepository {
    package func meters() async throws(StoreError) -> [KnownMeter] {
        let (path, catalogue) = (path, catalogue)
        return try await access("read") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM meter ORDER BY id")
                .map { try KnownMeter(row: $0, path: path, catalogue) }
        }
    }

    package func save(_ meter: KnownMeter) async throws(StoreError) {
        let (path, catalogue) = (path, catalogue)
        try checkStorable(meter.id)
        try await access("written") { db in
            let old = try Row.fetchOne(db, sql: "SELECT * FROM meter WHERE id = ?", arguments: [meter.id.description])
                .map { try KnownMeter(row: $0, path: path, catalogue) }
            guard meter != old else { return }
            // Wait for the disk only if a user's choice changed. meterd soon stores the other values again.
            let isWish =
                meter.isWanted != (old?.isWanted ?? false) || meter.isDeclared != (old?.isDeclared ?? false)
                || meter.preferred != old?.preferred
            if isWish {
                try db.inDurableTransaction { try Self.write(meter, $0) }
            } else {
                try db.inImmediateTransaction { try Self.write(meter, $0) }
            }
        }
    }

    package func forget(_ meter: MeterID) async throws(StoreError) {
        try await access("written") { db in
            try db.inDurableTransaction { db in
                try db.execute(sql: "DELETE FROM meter WHERE id = ?", arguments: [meter.description])
            }
        }
    }

    private static func write(_ meter: KnownMeter, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO meter
                    (id, model, transport, link, is_declared, is_wanted, preferred_transport, last_seen_ms,
                     usb_port, usb_serial)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                    model = excluded.model, transport = excluded.transport, link = excluded.link,
                    is_declared = excluded.is_declared, is_wanted = excluded.is_wanted,
                    preferred_transport = excluded.preferred_transport, last_seen_ms = excluded.last_seen_ms,
                    usb_port = excluded.usb_port, usb_serial = excluded.usb_serial
                """,
            arguments: [
                meter.id.description, meter.model?.rawValue, meter.link?.transport.rawValue, meter.link?.stored,
                meter.isDeclared, meter.isWanted, meter.preferred?.rawValue, meter.lastSeen?.millisecondsSince1970,
                meter.plug?.port, meter.plug?.serial,
            ])
    }

    /// Rejects an id that cannot be parsed back. In the file, it would make all other meters unreadable.
    func checkStorable(_ id: MeterID) throws(StoreError) {
        guard MeterID(id.description) == id else {
            throw StoreError(
                .system, "the store \(path) cannot keep the meter \"\(id)\": its name does not read back as the same")
        }
    }
}

extension KnownMeter {
    /// Decodes a row of the table `meter`. An unknown model or transport becomes nil.
    fileprivate init(row: Row, path: String, _ catalogue: MeterCatalogue) throws {
        let text: String = row["id"]
        guard let id = MeterID(text) else {
            throw StoreError(
                .damaged,
                "the store \(path) holds a meter with the id \"\(text)\", which is not a meter id. It is left as it is; "
                    + "restore the file from a backup")
        }
        let model: String? = row["model"]
        let preferred: String? = row["preferred_transport"]
        let lastSeen: Int64? = row["last_seen_ms"]
        let port: String? = row["usb_port"]
        self.init(
            id: id,
            model: model.flatMap { catalogue.model(named: $0) },
            link: Self.link(transport: row["transport"], stored: row["link"]),
            isDeclared: row["is_declared"],
            isWanted: row["is_wanted"],
            preferred: preferred.flatMap { LinkAddress.Transport(rawValue: $0) },
            lastSeen: lastSeen.map { WallTime(millisecondsSince1970: $0) },
            plug: port.map { USBPlug(port: $0, serial: row["usb_serial"]) }
        )
    }

    private static func link(transport: String?, stored: String?) -> LinkAddress? {
        guard let transport, let stored else { return nil }
        return LinkAddress(transport: transport, stored: stored)
    }
}
