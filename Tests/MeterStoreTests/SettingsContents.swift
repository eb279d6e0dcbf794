import Domain
import Gateway
import MeterStore
import MeterTestKit

/// Everything that can be read from a store's settings, to compare before and after.
struct SettingsContents: Hashable {
    var records: Set<SyncRecord>
    var waiting: Set<SyncRecord>
    var progress: SyncProgress
    var rebuild: RebuildProgress
    var history: [RecordKey: [OverwrittenValue]]

    init(_ store: some SettingsRepository & SyncRepository) async throws {
        var all: [SyncRecord] = []
        for type in RecordType.known + [.newer] { all += try await store.records(of: type) }
        records = Set(all)
        waiting = Set(try await store.nextBatch(recordsMax: .max, bytesMax: .max)?.records ?? [])
        progress = try await store.progress()
        rebuild = try await store.rebuildProgress()
        history = [:]
        for record in all {
            let entries = try await store.history(of: record.key, property: nil, limit: 1000)
            if !entries.isEmpty { history[record.key] = entries.map(\.overwritten) }
        }
    }
}

extension RecordType {
    static let newer = RecordType(rawValue: "Newer")
}

extension RecordKey {
    static let desk = RecordKey(type: .deviceSettings, name: MeterID.one.description)
    static let bench = RecordKey(type: .deviceSettings, name: MeterID.two.description)
    /// Another form of `desk`.
    static let oldDesk = RecordKey(type: .deviceSettings, name: "aa-bb-cc-dd-ee-ff")

    static func meter(_ number: Int) -> RecordKey {
        RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: UInt64(number) + 1)).description)
    }
}

extension HostID {
    static let other = HostID(high: 0x7777_0000_0000_4000, low: 0x8000_0000_0000_0007)
}

extension HostMoment {
    static func minute(_ minute: Int) -> HostMoment {
        HostMoment(
            wall: WallTime(millisecondsSince1970: 1_795_000_000_000 + Int64(minute) * 60_000),
            sinceBoot: MonotonicTime(sinceOrigin: .seconds(1000 + minute * 60)))
    }

    var milliseconds: UInt64 { UInt64(clamping: wall.millisecondsSince1970) }
}

extension Stamp {
    /// Another host's stamp at this minute.
    static func minute(_ minute: Int) -> Stamp {
        Stamp(milliseconds: HostMoment.minute(minute).milliseconds, counter: 0, host: .other)
    }
}

extension SyncRecord {
    init(_ key: RecordKey, _ properties: [String: (SettingValue, Stamp)]) {
        self.init(key: key, properties: properties.mapValues { Register(value: $0.0, stamp: $0.1) })
    }
}

extension ChangesPage {
    static func of(_ records: [SyncRecord], token: String, moreComing: Bool = false) -> ChangesPage {
        ChangesPage(type: .deviceSettings, records: records, token: token, moreComing: moreComing, epoch: "e1")
    }
}

extension SettingsRepository {
    func set(_ key: RecordKey, _ property: String, _ value: SettingValue, at moment: HostMoment) async throws {
        _ = try await write([SettingChange(key: key, property: property, value: value)], at: moment)
    }
}

extension SettingsRepository {
    /// Sets texts, for tests to which the kind of a value does not matter; nil is null.
    func set(_ texts: [String: String?], for meter: MeterID) async throws {
        let key = RecordKey(type: .deviceSettings, name: meter.description)
        let changes = texts.sorted { $0.key < $1.key }.map { property, text in
            SettingChange(key: key, property: property, value: text.map { .string($0) } ?? .null)
        }
        _ = try await write(changes, at: .minute(0))
    }

    /// The settings that are texts.
    func settings(of meter: MeterID) async throws -> [String: String] {
        let record = try await record(RecordKey(type: .deviceSettings, name: meter.description))
        return (record?.properties ?? [:]).compactMapValues { register in
            guard case .string(let text) = register.value else { return nil }
            return text
        }
    }
}

extension SyncRepository {
    /// Pushes what waits, of some records, to a cloud that accepts everything but `refused`.
    func push(recordsMax: Int = .max, refused: RecordKey? = nil, merged: [SyncRecord] = []) async throws {
        guard let batch = try await nextBatch(recordsMax: recordsMax, bytesMax: .max) else { return }
        let results = batch.records.map { record in
            PushResult(
                key: record.key, failure: record.key == refused ? SyncFailure(.badRequest, "refused") : nil,
                merged: merged.first { $0.key == record.key })
        }
        _ = try await settle(batch, PushOutcome(results: results, serverTime: 0))
    }
}
