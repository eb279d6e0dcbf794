import CloudAPI
import Domain

/// The records of one request while it is processed, in the order of the request.
struct RecordBatch {
    let records: [SyncRecord]
    private(set) var results: [ModifyAnswer.Result]
    /// Records to store for each record of the request. Nil if it was refused or already answered.
    private var stores: [[SyncRecord]?]
    /// Records under older names, as they remain after folding (`fold`), by index in the request. Stored only after the
    /// folded contents.
    private var leftovers: [Int: SyncRecord] = [:]
    private(set) var hasFolds = false

    init(_ records: [SyncRecord]) {
        self.records = records
        results = records.map { ModifyAnswer.Result(type: $0.key.type.rawValue, name: $0.key.name) }
        stores = records.map { [$0] }
        for (index, record) in records.enumerated() {
            if let fault = Self.fault(of: record) { refuse(index, .badRequest, fault) }
        }
    }

    private static func fault(of record: SyncRecord) -> String? {
        if let fault = record.fault { return fault.description }
        if record.properties.isEmpty, record.deletion == nil {
            return "the record \(record.key.name) has neither properties nor a deletion"
        }
        if record.key.type.isNamedByMeter, MeterID(record.key.name) == nil {
            return "\"\(record.key.name)\" is not a meter id, and a \(record.key.type.rawValue) is named by one"
        }
        return record.key.type == .recording ? recordingFault(of: record) : nil
    }

    /// Returns the reason to refuse a recording, if any. The recording is named `<host>/…`, and only that host writes
    /// it (Docs/Recordings.md#several-hosts). Other hosts may send its contents again, as after a restore, and any host
    /// may delete it.
    private static func recordingFault(of record: SyncRecord) -> String? {
        let name = record.key.name
        guard let slash = name.firstIndex(of: "/"), let host = HostID(name[..<slash]) else {
            return "\"\(name)\" cannot name a recording; a name begins with its host's id and a slash"
        }
        guard record.properties.values.allSatisfy({ $0.stamp.host == host }) else {
            return "the recording \(name) is written by its own host alone"
        }
        return nil
    }

    var accepted: [Int] { stores.indices.filter { stores[$0] != nil } }

    mutating func refuse(_ index: Int, _ code: CloudErrorCode, _ message: String) {
        results[index].error = CloudErrorBody.Content(code: code, message: message)
        stores[index] = nil
    }

    mutating func refuseOthers(than own: RecordKey) {
        for index in accepted where records[index].key.normalised != own {
            let key = records[index].key
            refuse(index, .readOnly, "\(key.type.rawValue) \(key.name) stays as it is: \(CloudFailure.mayOnlyLook)")
        }
    }

    mutating func answer(_ index: Int, with stored: SyncRecord?) {
        stores[index] = nil
        tell(stored, at: index)
    }

    /// Moves the contents of a record with an older name to the record with the canonical name, as `Ingest` decides. A
    /// change of the stored record in the meantime is harmless, because merging is commutative.
    mutating func fold(_ index: Int, current: (RecordKey) -> SyncRecord?) {
        let ingest = Ingest(records[index], current: current)
        guard ingest.fold != nil else { return }
        hasFolds = true
        let name = records[index].key
        stores[index] = ingest.merges.map(\.after).filter { $0.key != name }
        leftovers[index] = ingest.merges.map(\.after).first { $0.key == name }
    }

    var toStore: (records: [SyncRecord], places: [Int]) {
        let pairs = stores.enumerated().flatMap { index, records in (records ?? []).map { ($0, index) } }
        return (pairs.map(\.0), pairs.map(\.1))
    }

    /// Records that remain under older names, to store after `toStore`. Omits those of records that the engine has
    /// refused.
    var toStoreAfter: (records: [SyncRecord], places: [Int]) {
        let kept = leftovers.sorted { $0.key < $1.key }.filter { stores[$0.key] != nil }
        return (kept.map(\.value), kept.map(\.key))
    }

    /// - Returns: types in which something changed.
    mutating func enter(
        _ outcomes: [RecordOutcome], at places: [Int], now: WallTime, zone: String
    ) -> Set<RecordType> {
        var changed: Set<RecordType> = []
        for (outcome, index) in zip(outcomes, places) {
            switch outcome.fate {
            case .changed:
                changed.insert(records[index].key.type)
                tell(outcome.record, at: index)
            case .unchanged:
                tell(outcome.record, at: index)
            case .clockSkew:
                refuse(index, .clockSkew, Self.skew(of: records[index], now: now))
            case .quotaExceeded(let excess):
                refuse(index, .quotaExceeded, Self.words(for: excess, of: records[index], in: zone))
            case .tooManyProperties:
                refuse(
                    index, .badRequest,
                    "\(records[index].key.name) has more than \(CloudLimits.propertiesPerRecord) properties with those "
                        + "that others wrote")
            case .leaseHeld(let meter, let holder):
                refuse(
                    index, .leaseHeld,
                    "\(holder) has \(meter), which has to be free before \(records[index].key.name) becomes or stops "
                        + "being another id of a meter; disconnect it there, and this is tried again")
            case .tooManyAliases:
                refuse(
                    index, .badRequest,
                    "\(records[index].key.name) is one alias too many: a meter has at most \(AliasBook.idsPerMeter) ids, "
                        + "a zone \(AliasBook.entriesMax) aliases")
            }
        }
        return changed
    }

    private mutating func tell(_ stored: SyncRecord?, at index: Int) {
        guard let stored, stored.key == records[index].key, stored != records[index] else { return }
        results[index].merged = stored
    }

    private static func words(for excess: QuotaExcess, of record: SyncRecord, in zone: String) -> String {
        let (unit, option) = excess.resource == .bytes ? ("bytes", "megabytes") : ("records", "records")
        let who = excess.isHostsShare ? "this host's share of the zone \(zone)" : "the zone \(zone)"
        let flag = excess.isHostsShare ? "--host-\(option)" : "--max-\(option)"
        return
            "\(who) has \(excess.used) of \(excess.limit) \(unit), and \(record.key.name) needs \(excess.needed) more; "
            + "delete what is not needed, or have the limit raised on the cloud's machine: "
            + "metercloud zone set \(zone) \(flag) N"
    }

    private static func skew(of record: SyncRecord, now: WallTime) -> String {
        let newest = Int64(clamping: record.newestStamp?.milliseconds ?? 0)
        let ahead = Double(newest - now.millisecondsSince1970) / 1000
        return "\(record.key.name) was stamped \(ahead) s ahead of the cloud's clock; "
            + "set this host's clock, then stamp it anew"
    }
}
