import Domain

struct EtcdEntry: Hashable, Sendable {
    var key: [UInt8]
    var value: [UInt8]
    var revision: Int64
}

struct EtcdRangeAnswer: Hashable, Sendable {
    var entries: [EtcdEntry] = []
    var hasMore = false
    /// Number of entries in the range, regardless of the request's limit.
    var count: Int64 = 0
}

indirect enum EtcdResult: Hashable, Sendable {
    case range(EtcdRangeAnswer)
    case put
    case deleted
    case transaction(EtcdTransactionAnswer)
}

struct EtcdTransactionAnswer: Hashable, Sendable {
    /// Revision of everything that the transaction wrote or, if it wrote nothing, of the store. 0 in a nested
    /// transaction.
    var revision: Int64
    var succeeded: Bool
    var results: [EtcdResult]
    /// Whether an earlier attempt of the same request got no answer, and so may have succeeded.
    var mayBeDoneBefore = false
    var reign: EtcdTerm?
}

extension EtcdTransactionAnswer {
    func range(_ index: Int) -> EtcdRangeAnswer? {
        guard results.indices.contains(index), case .range(let range) = results[index] else { return nil }
        return range
    }

    func transaction(_ index: Int) -> EtcdTransactionAnswer? {
        guard results.indices.contains(index), case .transaction(let answer) = results[index] else { return nil }
        return answer
    }
}

protocol EtcdReadable: Sendable {
    /// Revision of etcd's store; 0 if the answer contains none.
    var storeRevision: Int64 { get }
    var reign: EtcdTerm? { get }
    init?(_ json: inout JSONReader)
}

extension EtcdReadable {
    var reign: EtcdTerm? { nil }

    static func read(_ text: some Collection<UInt8>) throws(JSONReader.Problem) -> Self {
        try text.read { Self(&$0) }
    }
}

/// Cluster that sent an answer, and its election term. They differ after a restore or replacement of the store.
struct EtcdTerm: Hashable, Sendable {
    var cluster: String
    var term: Int64
}

// MARK: - Reading

// etcd's gateway omits fields that are 0, false or empty, and writes 64-bit numbers as text. A general parser took more
// time for leases and records than everything else in a replica.

private struct EtcdHeader {
    var revision: Int64 = 0
    var cluster = ""
    var term: Int64?

    init?(_ json: inout JSONReader) {
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "revision": revision = json.wide()
            case "cluster_id": cluster = json.string() ?? ""
            case "raft_term": term = json.wide()
            default: json.passValue()
            }
        }
    }
}

extension EtcdEntry {
    init?(_ json: inout JSONReader) {
        var (key, value, revision) = ([UInt8]?.none, [UInt8](), Int64(0))
        guard json.open("{") else { return nil }
        while let name = json.filledKey() {
            switch name {
            case "key": key = json.base64()
            case "value": value = json.base64() ?? []
            case "mod_revision": revision = json.wide()
            default: json.passValue()
            }
        }
        guard let key else { return nil }
        self.init(key: key, value: value, revision: revision)
    }
}

extension EtcdRangeAnswer {
    fileprivate init?(_ json: inout JSONReader) {
        self.init()
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "kvs": entries = json.list { EtcdEntry(&$0) }
            case "more": hasMore = json.flag() ?? false
            case "count": count = json.wide()
            default: json.passValue()
            }
        }
    }
}

extension EtcdResult {
    fileprivate init?(_ json: inout JSONReader) {
        var result: EtcdResult?
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "response_range": result = EtcdRangeAnswer(&json).map { .range($0) }
            case "response_txn": result = EtcdTransactionAnswer(&json).map { .transaction($0) }
            case "response_put": result = json.passValue() ? .put : nil
            case "response_delete_range": result = json.passValue() ? .deleted : nil
            default: json.passValue()
            }
        }
        guard let result else { return nil }
        self = result
    }
}

extension EtcdTransactionAnswer: EtcdReadable {
    init?(_ json: inout JSONReader) {
        var header: EtcdHeader?
        self.init(revision: 0, succeeded: false, results: [])
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "header": header = EtcdHeader(&json)
            case "succeeded": succeeded = json.flag() ?? false
            case "responses": results = json.list { EtcdResult(&$0) }
            default: json.passValue()
            }
        }
        guard let header else { return nil }
        revision = header.revision
        reign = header.term.map { EtcdTerm(cluster: header.cluster, term: $0) }
    }

    var storeRevision: Int64 { revision }
}

struct EtcdStatus: EtcdReadable {
    var size: Int64 = 0
    var hasNoSpace = false

    init?(_ json: inout JSONReader) {
        var header: EtcdHeader?
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "header": header = EtcdHeader(&json)
            case "dbSize": size = json.wide()
            // Example of an entry: `memberID:10276657743932975437 alarm:NOSPACE `.
            case "errors": hasNoSpace = json.list { $0.string() }.contains { $0.contains("alarm:NOSPACE") }
            default: json.passValue()
            }
        }
        if header == nil { return nil }
    }

    // 0 disables the comparison with other answers, because a member's status may lag behind other members.
    var storeRevision: Int64 { 0 }
}

struct EtcdAuthToken: EtcdReadable {
    var token: String

    init?(_ json: inout JSONReader) {
        var token: String?
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            if key == "token" { token = json.string() } else { json.passValue() }
        }
        guard let token else { return nil }
        self.token = token
    }

    var storeRevision: Int64 { 0 }
}

struct EtcdWatchMessage: EtcdReadable {
    struct Event: Sendable {
        var isDeletion = false
        var entry: EtcdEntry
    }

    /// etcd's error text; all other fields are then empty.
    var error: String?
    var isCreated = false
    var isCanceled = false
    var reason: String?
    var events: [Event] = []

    init?(_ json: inout JSONReader) {
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "result": readResult(&json)
            case "error": error = json.faultWords()
            default: json.passValue()
            }
        }
    }

    private mutating func readResult(_ json: inout JSONReader) {
        guard json.open("{") else { return }
        while let key = json.filledKey() {
            switch key {
            case "created": isCreated = json.flag() ?? false
            case "canceled": isCanceled = json.flag() ?? false
            case "cancel_reason": reason = json.string()
            case "events": events = json.list { Event(&$0) }
            default: json.passValue()
            }
        }
    }

    var storeRevision: Int64 { 0 }
}

extension EtcdWatchMessage.Event {
    fileprivate init?(_ json: inout JSONReader) {
        var (type, entry) = (String?.none, EtcdEntry?.none)
        guard json.open("{") else { return nil }
        while let key = json.filledKey() {
            switch key {
            case "type": type = json.string()
            case "kv": entry = EtcdEntry(&json)
            default: json.passValue()
            }
        }
        guard let entry else { return nil }
        self.init(isDeletion: type == "DELETE", entry: entry)
    }
}

extension JSONReader {
    fileprivate mutating func filledKey() -> String? {
        while let key = key() {
            if !skip("null") { return key }
        }
        return nil
    }

    fileprivate mutating func list<Element>(_ element: (inout JSONReader) -> Element?) -> [Element] {
        var elements: [Element] = []
        guard open("[") else { return [] }
        while self.element() {
            if let element = element(&self) { elements.append(element) } else { fail(.unwanted) }
        }
        return elements
    }

    fileprivate mutating func base64() -> [UInt8]? {
        let bytes = plainString().flatMap { Base64.read($0) }
        if bytes == nil { fail(.unwanted) }
        return bytes
    }

    fileprivate mutating func wide() -> Int64 {
        let isText = skip(#"""#)
        let value = integer() ?? 0
        if isText, !skip(#"""#) { fail(.notWhole) }
        return value
    }

    /// etcd's error text: under `error` or `message` or, in a watch, under `message` within `error`.
    mutating func faultWords() -> String? {
        var (error, message) = (String?.none, String?.none)
        guard open("{") else { return nil }
        while let key = filledKey() {
            switch key {
            case "error": error = peek == UInt8(ascii: "{") ? faultWords() : string()
            case "message": message = string()
            default: passValue()
            }
        }
        return error ?? message ?? ""
    }
}
