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
            case "header" where header == nil:
                header = reader.header()
                return header != nil
            case "succeeded" where succeeded == nil:
                succeeded = reader.flag()
                return succeeded != nil
            case "responses" where results == nil:
                results = reader.array { $0.result(depth: depth) }
                return results != nil
            default: return false
            }
        }
        guard isRead, let header else { return nil }
        return EtcdTransactionAnswer(header, succeeded: succeeded ?? false, results: results ?? [])
    }

    private mutating func header() -> EtcdHeader? {
        var header = EtcdHeader()
        let isRead = object { reader, key in
            switch key {
            case "revision" where header.revision == nil:
                header.revision = reader.number()
                return header.revision != nil
            case "cluster_id" where header.cluster_id == nil:
                header.cluster_id = reader.string()
                return header.cluster_id != nil
            case "raft_term" where header.raft_term == nil:
                header.raft_term = reader.number()
                return header.raft_term != nil
            case "member_id": return reader.passString()
            default: return false
            }
        }
        return isRead ? header : nil
    }

    private mutating func result(depth: Int) -> EtcdResult? {
        var result: EtcdResult?
        let isRead = object { reader, key in
            guard result == nil else { return false }
            switch key {
            case "response_range": result = reader.rangeAnswer().map { .range($0) }
            case "response_txn": result = reader.transactionAnswer(depth: depth + 1).map { .transaction($0) }
            case "response_put": result = reader.passHeader() ? .put : nil
            case "response_delete_range": result = reader.passHeader() ? .deleted : nil
            default: return false
            }
            return result != nil
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
        var answer = EtcdRangeAnswer()
        var seen: Set<String> = []
        let isRead = object { reader, key in
            guard seen.insert(key).inserted else { return false }
            switch key {
            case "header": return reader.header() != nil
            case "kvs":
                guard let entries = reader.array({ $0.entry() }) else { return false }
                answer.entries = entries
            case "more":
                guard let hasMore = reader.flag() else { return false }
                answer.hasMore = hasMore
            case "count":
                guard let count = reader.number() else { return false }
                answer.count = count.value
            default: return false
            }
            return true
        }
        return isRead ? answer : nil
    }

    private mutating func entry() -> EtcdEntry? {
        var (key, value, revision) = ([UInt8]?.none, [UInt8]?.none, EtcdNumber?.none)
        let isRead = object { reader, name in
            switch name {
            case "key" where key == nil:
                key = reader.base64()
                return key != nil
            case "value" where value == nil:
                value = reader.base64()
                return value != nil
            case "mod_revision" where revision == nil:
                revision = reader.number()
                return revision != nil
            case "create_revision", "version", "lease": return reader.number() != nil
            default: return false
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
        guard skip(#"""#) else { return nil }
        let isNegative = skip("-")
        guard let digits = decimal(), let value = Int64(exactly: digits), skip(#"""#) else { return nil }
        return EtcdNumber(value: isNegative ? -value : value)
    }
}
