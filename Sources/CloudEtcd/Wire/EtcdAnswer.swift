import FoundationEssentials

/// A key as stored in etcd.
struct EtcdEntry: Hashable, Sendable {
    var key: [UInt8]
    var value: [UInt8]
    /// When it was last changed.
    var revision: Int64
}

struct EtcdRangeAnswer: Hashable, Sendable {
    var entries: [EtcdEntry] = []
    /// Whether the limit cut off entries.
    var hasMore = false
    /// Number of all entries in the range, regardless of the limit.
    var count: Int64 = 0
}

indirect enum EtcdResult: Hashable, Sendable {
    case range(EtcdRangeAnswer)
    case put
    case deleted
    case transaction(EtcdTransactionAnswer)
}

struct EtcdTransactionAnswer: Hashable, Sendable {
    /// The store's revision at the answer; if the transaction wrote anything, that of everything it wrote. 0 in a
    /// nested one.
    var revision: Int64
    var succeeded: Bool
    var results: [EtcdResult]
    /// The same request was sent before without an answer: this shows what became of it.
    var mayBeDoneBefore = false
    var reign: EtcdReign?
}

extension EtcdTransactionAnswer {
    /// - Returns: nil if the result is of another kind, or missing.
    func range(_ index: Int) -> EtcdRangeAnswer? {
        guard results.indices.contains(index), case .range(let range) = results[index] else { return nil }
        return range
    }

    func transaction(_ index: Int) -> EtcdTransactionAnswer? {
        guard results.indices.contains(index), case .transaction(let answer) = results[index] else { return nil }
        return answer
    }
}

/// An answer of any kind: its content, and the revision in it.
protocol EtcdReadable: Decodable, Sendable {
    /// 0 if it contains none.
    var storeRevision: Int64 { get }
    /// Nil if it contains none.
    var reign: EtcdReign? { get }
    /// Reads the usual form of what comes often, without a coder. Nil for anything else, which is left to one.
    init?(text: [UInt8])
}

extension EtcdReadable {
    var reign: EtcdReign? { nil }
    init?(text: [UInt8]) { return nil }

    /// - Throws: a `DecodingError` if it is no such answer.
    static func read(_ text: [UInt8]) throws -> Self {
        try Self(text: text) ?? JSONDecoder().decode(Self.self, from: Data(text))
    }
}

/// Which members an answer comes from, and how often they have elected a leader. A restored or newly created store has
/// a different one.
struct EtcdReign: Hashable, Sendable {
    var cluster: String
    var term: Int64
}

// MARK: - Reading

/// A 64-bit number, which the gateway writes as text, and omits if it is 0.
struct EtcdNumber: Hashable, Sendable {
    var value: Int64
}

extension EtcdNumber: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let value = Int64(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\"\(text.prefix(32))\" is not a number")
            }
            self.value = value
        } else {
            value = try container.decode(Int64.self)
        }
    }
}

struct EtcdHeader: Hashable, Sendable {
    var revision: EtcdNumber?
    /// Any 64 bits, as text.
    var cluster_id: String?
    var raft_term: EtcdNumber?
}

extension EtcdHeader: Decodable {
    private enum CodingKeys: String, CodingKey { case revision, cluster_id, raft_term }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        revision = try container.decodeIfPresent(EtcdNumber.self, forKey: .revision)
        // Only whether a mark is written once more depends on these two.
        cluster_id = try? container.decodeIfPresent(String.self, forKey: .cluster_id)
        raft_term = try? container.decodeIfPresent(EtcdNumber.self, forKey: .raft_term)
    }
}

/// Bytes in base64, omitted if there are none.
struct EtcdBytes: Decodable, Sendable {
    var bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no base64")
        }
        bytes = [UInt8](data)
    }
}

extension EtcdEntry: Decodable {
    private enum CodingKeys: String, CodingKey {
        case key, value
        case revision = "mod_revision"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        key = try container.decode(EtcdBytes.self, forKey: .key).bytes
        value = try container.decodeIfPresent(EtcdBytes.self, forKey: .value)?.bytes ?? []
        revision = try container.decodeIfPresent(EtcdNumber.self, forKey: .revision)?.value ?? 0
    }
}

extension EtcdRangeAnswer: Decodable {
    private enum CodingKeys: String, CodingKey {
        case kvs, more, count
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entries = try container.decodeIfPresent([EtcdEntry].self, forKey: .kvs) ?? []
        hasMore = try container.decodeIfPresent(Bool.self, forKey: .more) ?? false
        count = try container.decodeIfPresent(EtcdNumber.self, forKey: .count)?.value ?? 0
    }
}

extension EtcdResult: Decodable {
    private enum CodingKeys: String, CodingKey {
        case range = "response_range"
        case put = "response_put"
        case deleted = "response_delete_range"
        case transaction = "response_txn"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let range = try container.decodeIfPresent(EtcdRangeAnswer.self, forKey: .range) {
            self = .range(range)
        } else if let answer = try container.decodeIfPresent(EtcdTransactionAnswer.self, forKey: .transaction) {
            self = .transaction(answer)
        } else if container.contains(.put) {
            self = .put
        } else if container.contains(.deleted) {
            self = .deleted
        } else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a result of no known kind"))
        }
    }
}

extension EtcdTransactionAnswer: EtcdReadable {
    private enum CodingKeys: String, CodingKey {
        case header, succeeded, responses
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(EtcdHeader.self, forKey: .header),
            succeeded: try container.decodeIfPresent(Bool.self, forKey: .succeeded) ?? false,
            results: try container.decodeIfPresent([EtcdResult].self, forKey: .responses) ?? [])
    }

    init(_ header: EtcdHeader, succeeded: Bool, results: [EtcdResult]) {
        self.init(revision: header.revision?.value ?? 0, succeeded: succeeded, results: results)
        reign = header.raft_term.map { EtcdReign(cluster: header.cluster_id ?? "", term: $0.value) }
    }

    var storeRevision: Int64 { revision }
}

/// `POST /v3/maintenance/status`.
struct EtcdStatus: EtcdReadable {
    var header: EtcdHeader
    var version: String?
    var dbSize: EtcdNumber?
    var dbSizeInUse: EtcdNumber?
    /// `0`, or missing, if the members have none.
    var leader: String?
    /// `memberID:10276657743932975437 alarm:NOSPACE ` …
    var errors: [String]?

    /// The quota of a member is reached.
    var hasNoSpace: Bool { errors?.contains { $0.contains("alarm:NOSPACE") } ?? false }

    // The revision of a single member, which may be behind the others.
    var storeRevision: Int64 { 0 }
}

struct EtcdTicket: EtcdReadable {
    var token: String

    var storeRevision: Int64 { 0 }
}

/// One line of a watch.
struct EtcdWatchMessage: Decodable, Sendable {
    struct Event: Decodable, Sendable {
        /// `DELETE`; nil for a put.
        var type: String?
        var kv: EtcdEntry
    }

    struct Result: Decodable, Sendable {
        var header: EtcdHeader
        var created: Bool?
        var canceled: Bool?
        var cancel_reason: String?
        var compact_revision: EtcdNumber?
        var events: [Event]?
    }

    var result: Result?
    var error: EtcdFaultBody?
}
