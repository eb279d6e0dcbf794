import Domain

/// Operation in the JSON of etcd's gateway: etcd's names, keys and values in base64, 64-bit numbers as text.
indirect enum EtcdOperation: Hashable, Sendable {
    case range(EtcdRange)
    case put(key: [UInt8], value: [UInt8])
    case delete(key: [UInt8])
    case deleteAll(prefix: [UInt8])
    /// A nested transaction. Its comparisons refer to the state before the outermost transaction.
    case transaction(EtcdTransaction)
}

struct EtcdRange: Hashable, Sendable {
    var key: [UInt8]
    /// First key after the range; nil for a single key.
    var end: [UInt8]?
    /// 0 for no limit.
    var limit = 0
    /// Revision of the store to read; 0 for the current one.
    var revision: Int64 = 0
    var changedSince: Int64 = 0
    var isKeysOnly = false
    var isCountOnly = false

    init(key: [UInt8]) { self.key = key }

    init(prefix: [UInt8]) {
        key = prefix
        end = Self.end(of: prefix)
    }

    func at(_ revision: Int64) -> EtcdRange {
        var range = self
        range.revision = revision
        return range
    }

    static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < .max { return end + [last + 1] }
        }
        // etcd's notation for the end of all keys.
        return [0]
    }
}

/// Requires that a key was last changed at this revision; 0 requires that it does not exist.
struct EtcdCompare: Hashable, Sendable {
    var key: [UInt8]
    var revision: Int64
}

struct EtcdTransaction: Hashable, Sendable {
    /// Maximum number of operations, including nested ones (`--max-txn-ops`).
    static let operationsMax = 128
    /// Maximum size in bytes, below etcd's own limit of 1.5 MiB (`--max-request-bytes`).
    static let bytesMax = 1 << 20

    var compares: [EtcdCompare] = []
    var success: [EtcdOperation] = []
    var failure: [EtcdOperation] = []
}

extension EtcdTransaction {
    var text: [UInt8] {
        var writer = EtcdWriter()
        writer.write(self)
        return writer.text
    }
}

extension EtcdRange {
    var text: [UInt8] {
        var writer = EtcdWriter()
        writer.write(self)
        return writer.text
    }
}

/// Writer of operations. Nothing needs escaping, because keys and values are in base64.
struct EtcdWriter {
    private(set) var text: [UInt8] = []

    /// Omits default values: etcd's gateway needs longer to parse a JSON field than etcd needs to process it.
    mutating func write(_ transaction: EtcdTransaction) {
        text += "{\"success\":".utf8
        write(transaction.success)
        if !transaction.compares.isEmpty {
            text += ",\"compare\":[".utf8
            for (index, compare) in transaction.compares.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                // Equality is the default: `CompareResult` in etcd's rpc.proto.
                text += "{\"target\":\"MOD\",\"mod_revision\":\"\(compare.revision)\",\"key\":".utf8
                writeBytes(compare.key)
                text.append(UInt8(ascii: "}"))
            }
            text.append(UInt8(ascii: "]"))
        }
        if !transaction.failure.isEmpty {
            text += ",\"failure\":".utf8
            write(transaction.failure)
        }
        text.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ operations: [EtcdOperation]) {
        text.append(UInt8(ascii: "["))
        for (index, operation) in operations.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            write(operation)
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ operation: EtcdOperation) {
        switch operation {
        case .range(let range):
            text += "{\"request_range\":".utf8
            write(range)
        case .put(let key, let value):
            text += "{\"request_put\":{\"key\":".utf8
            writeBytes(key)
            if !value.isEmpty {
                text += ",\"value\":".utf8
                writeBytes(value)
            }
            text.append(UInt8(ascii: "}"))
        case .delete(let key):
            text += "{\"request_delete_range\":{\"key\":".utf8
            writeBytes(key)
            text.append(UInt8(ascii: "}"))
        case .deleteAll(let prefix):
            text += "{\"request_delete_range\":{\"key\":".utf8
            writeBytes(prefix)
            text += ",\"range_end\":".utf8
            writeBytes(EtcdRange.end(of: prefix))
            text.append(UInt8(ascii: "}"))
        case .transaction(let transaction):
            text += "{\"request_txn\":".utf8
            write(transaction)
        }
        text.append(UInt8(ascii: "}"))
    }

    mutating func write(_ range: EtcdRange) {
        text += "{\"key\":".utf8
        writeBytes(range.key)
        if let end = range.end {
            text += ",\"range_end\":".utf8
            writeBytes(end)
        }
        if range.limit > 0 { text += ",\"limit\":\"\(range.limit)\"".utf8 }
        if range.revision > 0 { text += ",\"revision\":\"\(range.revision)\"".utf8 }
        if range.changedSince > 0 { text += ",\"min_mod_revision\":\"\(range.changedSince)\"".utf8 }
        if range.isKeysOnly { text += ",\"keys_only\":true".utf8 }
        if range.isCountOnly { text += ",\"count_only\":true".utf8 }
        text.append(UInt8(ascii: "}"))
    }

    mutating func append(_ words: String) { text += words.utf8 }

    mutating func writeBytes(_ bytes: [UInt8]) {
        text.append(UInt8(ascii: "\""))
        Base64.write(bytes, to: &text)
        text.append(UInt8(ascii: "\""))
    }
}
