import CloudAPI

// The answers to transactions, which come with each lease and each record, read without a coder, which took more time than
// all else that a copy does.

extension EtcdTransactionAnswer {
    /// Reads the form in which etcd's gateway writes it, and nothing else.
    init?(text: [UInt8]) {
        guard let answer = text.read({ $0.transactionAnswer(depth: 0) }) else { return nil }
        self = answer
    }
}

extension JSONReader {
    /// In etcd's answers one transaction is in another, and none in that.
    private static let depthMax = 1

    fileprivate mutating func transactionAnswer(depth: Int) -> EtcdTransactionAnswer? {
        guard depth <= Self.depthMax else { return nil }
        var (header, succeeded, results) = (EtcdHeader?.none, Bool?.none, [EtcdResult]?.none)
        let isRead = object { reader, key in
            switch key {
            case "header": reader.fill(&header) { $0.header() }
            case "succeeded": reader.fill(&succeeded) { $0.flag() }
            case "responses": reader.fill(&results) { $0.array { $0.result(depth: depth) } }
            default: false
            }
        }
        guard isRead, let header else { return nil }
        return EtcdTransactionAnswer(header, succeeded: succeeded ?? false, results: results ?? [])
    }

    private mutating func header() -> EtcdHeader? {
        var header = EtcdHeader()
        let isRead = object { reader, key in
            switch key {
            case "revision": reader.fill(&header.revision) { $0.number() }
            case "cluster_id": reader.fill(&header.cluster_id) { $0.string() }
            case "raft_term": reader.fill(&header.raft_term) { $0.number() }
            case "member_id": reader.passString()
            default: false
            }
        }
        return isRead ? header : nil
    }

    private mutating func result(depth: Int) -> EtcdResult? {
        var result: EtcdResult?
        let isRead = object { reader, key in
            switch key {
            case "response_range": reader.fill(&result) { $0.rangeAnswer().map { .range($0) } }
            case "response_txn":
                reader.fill(&result) { $0.transactionAnswer(depth: depth + 1).map { .transaction($0) } }
            case "response_put": reader.fill(&result) { $0.passHeader() ? .put : nil }
            case "response_delete_range": reader.fill(&result) { $0.passHeader() ? .deleted : nil }
            default: false
            }
        }
        return isRead ? result : nil
    }

    /// An object with a header and, of what was deleted, how much it was.
    private mutating func passHeader() -> Bool {
        object { reader, key in
            switch key {
            case "header": reader.header() != nil
            case "deleted": reader.number() != nil
            default: false
            }
        }
    }

    private mutating func rangeAnswer() -> EtcdRangeAnswer? {
        var (header, entries, hasMore, count) = (EtcdHeader?.none, [EtcdEntry]?.none, Bool?.none, EtcdNumber?.none)
        let isRead = object { reader, key in
            switch key {
            case "header": reader.fill(&header) { $0.header() }
            case "kvs": reader.fill(&entries) { $0.array { $0.entry() } }
            case "more": reader.fill(&hasMore) { $0.flag() }
            case "count": reader.fill(&count) { $0.number() }
            default: false
            }
        }
        guard isRead else { return nil }
        return EtcdRangeAnswer(entries: entries ?? [], hasMore: hasMore ?? false, count: count?.value ?? 0)
    }

    private mutating func entry() -> EtcdEntry? {
        var (key, value, revision) = ([UInt8]?.none, [UInt8]?.none, EtcdNumber?.none)
        let isRead = object { reader, name in
            switch name {
            case "key": reader.fill(&key) { $0.base64() }
            case "value": reader.fill(&value) { $0.base64() }
            case "mod_revision": reader.fill(&revision) { $0.number() }
            case "create_revision", "version", "lease": reader.number() != nil
            default: false
            }
        }
        guard isRead, let key else { return nil }
        return EtcdEntry(key: key, value: value ?? [], revision: revision?.value ?? 0)
    }

    private mutating func base64() -> [UInt8]? { plainString().flatMap { Base64.read($0) } }

    private mutating func flag() -> Bool? {
        if skip("true") { return true }
        return skip("false") ? false : nil
    }

    /// 64 bits, which the gateway writes as text.
    private mutating func number() -> EtcdNumber? {
        guard skip(#"""#), let value = integer(), skip(#"""#) else { return nil }
        return EtcdNumber(value: value)
    }
}
