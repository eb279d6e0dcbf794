import Domain
package import Gateway

extension RecordKey {
    static let desk = RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:FF")
    static let shed = RecordKey(type: .deviceSettings, name: "usb:2e3c:0049:0042")
}

extension HostID {
    static let other = HostID(high: 0x7777_0000_0000_4000, low: 0x8000_0000_0000_0007)
}

extension HostMoment {
    private static let start: Int64 = 1_795_000_000_000

    /// Returns the moment `minute` minutes after a fixed start, by a wall clock that is wrong by `wrongBy`.
    static func minute(_ minute: Int, wrongBy: Duration = .zero) -> HostMoment {
        HostMoment(
            wall: WallTime(millisecondsSince1970: start + Int64(minute) * 60_000) + wrongBy,
            sinceBoot: MonotonicTime(sinceOrigin: .seconds(1000 + minute * 60)))
    }

    var milliseconds: UInt64 { UInt64(clamping: wall.millisecondsSince1970) }
}

extension Stamp {
    /// Returns the stamp of a change that `HostID.other` made at `HostMoment.minute(minute)`.
    static func minute(_ minute: Int, counter: UInt16 = 0) -> Stamp {
        Stamp(milliseconds: HostMoment.minute(minute).milliseconds, counter: counter, host: .other)
    }
}

extension SyncRecord {
    init(_ key: RecordKey, _ properties: [String: (SettingValue, Stamp)], deleted: Stamp? = nil) {
        self.init(
            key: key, properties: properties.mapValues { Register(value: $0.0, stamp: $0.1) },
            deletion: deleted.map { Deletion(stamp: $0) })
    }

    static func many(_ numbers: Range<Int>) -> [SyncRecord] {
        numbers.map { number in
            SyncRecord(
                RecordKey(type: .deviceSettings, name: MeterID.mac(MACAddress(bits: UInt64(number) + 1)).description),
                ["name": (.string("Meter \(number)"), .minute(number / 1000, counter: UInt16(number % 1000)))])
        }
    }
}

extension ChangesPage {
    static func of(_ records: [SyncRecord], token: String, moreComing: Bool = false, epoch: String = "e1")
        -> ChangesPage
    {
        ChangesPage(type: .deviceSettings, records: records, token: token, moreComing: moreComing, epoch: epoch)
    }
}

extension PushOutcome {
    static func to(
        _ batch: OutboxBatch, failures: [RecordKey: SyncFailure.Kind] = [:], merged: [SyncRecord] = []
    ) -> PushOutcome {
        PushOutcome(
            results: batch.records.map { record in
                PushResult(
                    key: record.key,
                    failure: failures[record.key].map { SyncFailure($0, "the cloud says \($0)") },
                    merged: merged.first { $0.key == record.key })
            }, serverTime: HostMoment.minute(0).milliseconds)
    }
}

extension SettingsRepository {
    func set(_ key: RecordKey, _ property: String, _ value: SettingValue, at moment: HostMoment) async throws {
        _ = try await write([SettingChange(key: key, property: property, value: value)], at: moment)
    }

    func values(of key: RecordKey) async throws -> [String: SettingValue] {
        try await record(key)?.properties.mapValues(\.value) ?? [:]
    }
}

extension SyncRepository {
    func waiting() async throws -> [SyncRecord] {
        try await nextBatch(recordsMax: .max, bytesMax: .max)?.records ?? []
    }
}

extension MergeOutcome {
    var plain: MergeOutcome { MergeOutcome(changed: changed, unchanged: unchanged, parked: parked) }
}

extension SyncRepository {
    /// Makes the repository join the zone "home" with this epoch, which identifies the cloud's store.
    package func adopt(epoch: String) async throws {
        try await adopt(SyncZone(id: nil, name: "home", epoch: epoch), .everything)
    }
}
