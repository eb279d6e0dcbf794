import CloudAPI
import Domain

/// The records of one request being processed: which were refused at once, what to store for the others, and the
/// results, in the order of the request.
struct RecordBatch {
    let records: [SyncRecord]
    private(set) var results: [ModifyAnswer.Result]
    /// What to store for each record. Nil if it was refused, or has been answered already.
    private var stores: [[SyncRecord]?]
    /// What remains under an older form of a name, stored only once its contents are stored under the canonical one.
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

    /// A recording is named `<host>/…` and written by that host alone (rule 7). Others may pass on what it wrote, as
    /// they do after a restore, and anybody may delete it. Its lease may be long over, which is no reason to refuse it.
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

    /// Indices of records that were not refused.
    var accepted: [Int] { stores.indices.filter { stores[$0] != nil } }

    mutating func refuse(_ index: Int, _ code: CloudErrorCode, _ message: String) {
        results[index].error = CloudErrorBody.Content(code: code, message: message)
        stores[index] = nil
    }

    /// They come from a host that may only look, which changes this one record.
    mutating func refuseOthers(than own: RecordKey) {
        for index in accepted where records[index].key.normalised != own {
            let key = records[index].key
            refuse(index, .readOnly, "\(key.type.rawValue) \(key.name) stays as it is: \(CloudFailure.mayOnlyLook)")
        }
    }

    /// Stores nothing for this record, and answers with what is stored.
    mutating func answer(_ index: Int, with stored: SyncRecord?) {
        stores[index] = nil
        tell(stored, at: index)
    }

    /// Stores a record with an older form of a name as `Ingest` says: its contents go to the canonical one.
    ///
    /// What is stored may change before this is stored: merging is commutative, so the hosts' own folding still gives
    /// the same result.
    mutating func fold(_ index: Int, current: (RecordKey) -> SyncRecord?) {
        let ingest = Ingest(records[index], current: current)
        guard ingest.fold != nil else { return }
        hasFolds = true
        let name = records[index].key
        stores[index] = ingest.merges.map(\.after).filter { $0.key != name }
        leftovers[index] = ingest.merges.map(\.after).first { $0.key == name }
    }

    /// The records to send to the engine, each with the index of the record that it came from.
    var toStore: (records: [SyncRecord], places: [Int]) {
        let pairs = stores.enumerated().flatMap { index, records in (records ?? []).map { ($0, index) } }
        return (pairs.map(\.0), pairs.map(\.1))
    }

    /// The records to send to the engine after `toStore`, without those refused then.
    var toStoreAfter: (records: [SyncRecord], places: [Int]) {
        let kept = leftovers.sorted { $0.key < $1.key }.filter { stores[$0.key] != nil }
        return (kept.map(\.value), kept.map(\.key))
    }

    /// Enters the engine's outcomes in the results.
    ///
    /// - Returns: the types in which something changed.
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
