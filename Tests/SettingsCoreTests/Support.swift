import Domain

/// Short names for hosts, stamps and records.
enum Sample {
    static let one = HostID(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111)
    static let two = HostID(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222)

    static func stamp(_ milliseconds: UInt64, _ counter: UInt16 = 0, _ host: HostID = one) -> Stamp {
        Stamp(milliseconds: milliseconds, counter: counter, host: host)
    }

    static func register(_ value: Int64, _ milliseconds: UInt64, _ host: HostID = one) -> Register {
        Register(value: .int(value), stamp: stamp(milliseconds, 0, host))
    }

    static let key = RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:FF")
    static let oldKey = RecordKey(type: .deviceSettings, name: "aabbccddeeff")

    /// - Parameter deleted: milliseconds of a deletion.
    static func record(
        _ properties: [String: Register] = [:], deleted: UInt64? = nil, key: RecordKey = key
    ) -> SyncRecord {
        SyncRecord(key: key, properties: properties, deletion: deleted.map { Deletion(stamp: stamp($0)) })
    }
}
