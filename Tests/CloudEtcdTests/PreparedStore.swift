import Foundation
import Synchronization

@testable import CloudEtcd

/// What lies in an etcd, as a test has put it there: it is read and compared as etcd does, and never changes.
final class PreparedStore: Sendable {
    static let compacted = ScriptedMember.Answer(
        400, #"{"error":"etcdserver: mvcc: required revision has been compacted"}"#)

    /// A transaction as it arrives, without nested ones.
    private struct Request: Decodable {
        struct Compare: Decodable {
            var key: Data
            var mod_revision: String
        }

        struct Operation: Decodable {
            var request_range: Range?
        }

        struct Range: Decodable {
            var key: Data
            var range_end: Data?
            var revision: String?
        }

        var compare: [Compare]?
        var success: [Operation]
        var failure: [Operation]?
    }

    private let entries: [EtcdEntry]
    private let refusals: Mutex<[ScriptedMember.Answer]>

    /// - Parameters:
    ///   - entries: all of them were written at revision 7.
    ///   - refusals: what is answered first, where an earlier state is asked for.
    init(_ entries: [[UInt8]: [UInt8]], refusals: [ScriptedMember.Answer] = []) {
        self.entries = entries.map { EtcdEntry(key: $0.key, value: $0.value, revision: 7) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        self.refusals = Mutex(refusals)
    }

    /// Nil for what is no transaction.
    @Sendable func answer(_ request: ScriptedMember.Request) -> ScriptedMember.Answer? {
        guard let asked = try? JSONDecoder().decode(Request.self, from: Data(request.body.utf8)) else { return nil }
        let holds = (asked.compare ?? []).allSatisfy { compare in
            let there = entries.first { $0.key == [UInt8](compare.key) }
            return "\(there?.revision ?? 0)" == compare.mod_revision
        }
        let operations = holds ? asked.success : asked.failure ?? []
        if operations.contains(where: { $0.request_range?.revision != nil }),
            let refusal = refusals.withLock({ $0.isEmpty ? nil : $0.removeFirst() })
        {
            return refusal
        }
        let results = operations.map { operation in
            guard let range = operation.request_range else { return #"{"response_put":{}}"# }
            let found = entries.filter { Self.has($0.key, range) }.map { Self.text($0) }.joined(separator: ",")
            return #"{"response_range":{"kvs":[\#(found)]}}"#
        }
        return .init(
            #"{"header":{"revision":"9"},"succeeded":\#(holds),"responses":[\#(results.joined(separator: ","))]}"#)
    }

    private static func has(_ key: [UInt8], _ range: Request.Range) -> Bool {
        guard let end = range.range_end else { return key == [UInt8](range.key) }
        return !key.lexicographicallyPrecedes(range.key) && key.lexicographicallyPrecedes(end)
    }

    private static func text(_ entry: EtcdEntry) -> String {
        let (key, value) = (Data(entry.key).base64EncodedString(), Data(entry.value).base64EncodedString())
        return #"{"key":"\#(key)","value":"\#(value)","mod_revision":"\#(entry.revision)"}"#
    }
}
