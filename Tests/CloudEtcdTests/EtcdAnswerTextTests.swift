import CoreTestKit
import Foundation
import Logging
import MeterTestKit
import Testing

@testable import CloudEtcd

/// Answers read without a coder are what the coder reads.
struct EtcdAnswerTextTests {
    private func coded(_ text: String) -> EtcdTransactionAnswer? {
        try? JSONDecoder().decode(EtcdTransactionAnswer.self, from: Data(text.utf8))
    }

    private func quick(_ text: String) -> EtcdTransactionAnswer? { EtcdTransactionAnswer(text: Array(text.utf8)) }

    // From etcd 3.4.23, asked with curl for a range of one of two keys, a put on a condition, and a deletion.
    private static let whole =
        #"{"header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"3","#
        + #""raft_term":"2"},"succeeded":true,"responses":[{"response_txn":{"header":{},"succeeded":true,"#
        + #""responses":[{"response_range":{"header":{"revision":"2"},"kvs":[{"key":"YQ==","create_revision":"2","#
        + #""mod_revision":"2","version":"1","value":"dmE="}],"more":true,"count":"2"}}]}},{"response_txn":"#
        + #"{"header":{},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"3"}}}]}},"#
        + #"{"response_delete_range":{"header":{"revision":"3"},"deleted":"1"}}]}"#

    @Test func usualForm_isReadWithoutACoder() throws {
        let answer = try #require(quick(Self.whole))

        #expect(answer == coded(Self.whole))
        #expect(answer.reign == EtcdReign(cluster: "324952591200643719", term: 2))
        #expect(answer.results.count == 3)
    }

    /// Left to the coder, which takes some of them.
    @Test(arguments: [
        "", "{", "{}", "[]", #" {"header":{}}"#, #"{"header":{}} "#, #"{"header":{},"header":{}}"#,
        #"{"header":{"revision":3}}"#, #"{"header":{"revision":"03"}}"#,
        #"{"header":{"revision":"99999999999999999999"}}"#,
        #"{"header":{"new":"1"}}"#, #"{"header":{},"succeeded":1}"#, #"{"header":{},"responses":[{}]}"#,
        #"{"header":{},"responses":[{"response_put":{},"response_put":{}}]}"#,
        #"{"header":{},"x":}"#, #"{"header":{"x":}}"#, #"{"header":{},"responses":[{"x":}]}"#,
        #"{"header":{},"responses":[{"response_put":{"x":}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"x":}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ==","x":}]}}]}"#,
        #"{"header":{},"responses":[],"responses":[]}"#, #"{"header":{},"succeeded":true,"succeeded":true}"#,
        #"{"header":{},"responses":[{"response_range":{"count":"1","count":"2"}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"more":true,"more":true}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[],"kvs":[]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ==","key":"YQ=="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YR=="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"value":"YQ=="}]}}]}"#,
    ])
    func otherForms_areNotReadQuickly(_ text: String) { #expect(quick(text) == nil) }

    /// However deep: the stack has an end.
    @Test func transactionsInTransactions_areLeftToTheCoder_fromTheSecondOn() {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"header":{},"responses":[{"response_txn":"#, count: depth) + #"{"header":{}}"#
                + String(repeating: "}]}", count: depth)
        }
        #expect(quick(nested(1)) != nil)
        for depth in [2, 10, 100_000] { #expect(quick(nested(depth)) == nil) }
    }

    @Test(arguments: 0..<50)
    func damagedAnswer_isReadAsTheCoderReadsIt_orLeftToIt(seed: Int) {
        var rng = SeededRNG(seed: UInt64(seed))
        let pieces = [
            #"{"#, #"}"#, #"["#, #"]"#, #","#, #":"#, #"""#, #"\""#, "1", "-", "true", "null", " ", "=",
            #""header":{}"#,
            #""revision":"7","#, #""key":"YQ==","#,
        ].map { Array($0.utf8) }
        for round in 0..<40 {
            var bytes = Array(Self.whole.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &rng) {
                let place = Int.random(in: 0..<bytes.count, using: &rng)
                switch Int.random(in: 0..<4, using: &rng) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = UInt8.random(in: 0x20...0x7e, using: &rng)
                case 2: bytes.insert(contentsOf: pieces.randomElement(using: &rng) ?? [], at: place)
                default: bytes.removeSubrange(place..<min(place + 9, bytes.count))
                }
            }
            guard let answer = EtcdTransactionAnswer(text: bytes) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(answer == coded(text), "seed \(seed) round \(round): \(text)")
        }
    }

    @Test(arguments: 0..<20)
    func anyEntries_areReadAsTheCoderReadsThem(seed: Int) throws {
        var rng = SeededRNG(seed: UInt64(seed))
        func bytes() -> [UInt8] {
            (0..<Int.random(in: 0...70, using: &rng)).map { _ in UInt8.random(in: 0...255, using: &rng) }
        }
        let entries = (0..<Int.random(in: 0...20, using: &rng)).map { _ in
            EtcdEntry(key: bytes(), value: bytes(), revision: Int64.random(in: Int64.min...Int64.max, using: &rng))
        }
        let kvs = entries.map {
            #"{"key":"\#(Data($0.key).base64EncodedString())","mod_revision":"\#($0.revision)","#
                + #""value":"\#(Data($0.value).base64EncodedString())"}"#
        }
        let text =
            #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[\#(kvs.joined(separator: ","))]}}]}"#

        let answer = coded(text)

        #expect(answer?.range(0)?.entries == entries)
        // The least number of all has no opposite, and is left to the coder.
        if !entries.contains(where: { $0.revision == .min }) { #expect(quick(text) == answer) }
    }
}

/// A real etcd writes the form that is read quickly: else nobody would notice but by the time that it takes.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"))
struct EtcdAnswerFormTests {
    private static let server = Result { try EtcdServer.started() }

    /// An answer read in both ways.
    private struct BothWays: EtcdReadable {
        var quick: EtcdTransactionAnswer?
        var coded: EtcdTransactionAnswer?

        init?(text: [UInt8]) {
            quick = EtcdTransactionAnswer(text: text)
            coded = try? JSONDecoder().decode(EtcdTransactionAnswer.self, from: Data(text))
        }

        init(from decoder: any Decoder) throws {}

        var storeRevision: Int64 { coded?.revision ?? 0 }
    }

    @Test func everyKindOfAnswer_isReadWithoutACoder() async throws {
        var settings = try Self.server.get().settings
        settings.prefix = "\(#function)/"
        let client = try EtcdClient(
            settings, clock: .real, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let keys = ["a", "b", "c"].map { Array("\(settings.prefix)\($0)".utf8) }
        func ask(_ transaction: EtcdTransaction) async throws -> EtcdTransactionAnswer {
            let answer: BothWays = try await client.call("/v3/kv/txn", body: transaction.text)
            #expect(answer.quick == answer.coded)
            return try #require(answer.quick)
        }
        func put(_ key: [UInt8]) -> EtcdTransaction {
            EtcdTransaction(
                compares: [EtcdCompare(key: key, revision: 0)], success: [.put(key: key, value: [1, 2, 3, 4])],
                failure: [.range(EtcdRange(key: key)), .range(EtcdRange(key: keys[2]))])
        }

        let written = try await ask(EtcdTransaction(success: keys.prefix(2).map { .transaction(put($0)) }))
        #expect(written.transaction(1)?.succeeded == true)
        let refused = try await ask(EtcdTransaction(success: keys.prefix(2).map { .transaction(put($0)) }))
        #expect(refused.transaction(1)?.succeeded == false)
        #expect(refused.transaction(1)?.range(0)?.entries.first?.value == [1, 2, 3, 4])
        var all = EtcdRange(prefix: Array(settings.prefix.utf8))
        all.limit = 1
        var count = all
        count.isCountOnly = true
        var names = all
        names.isKeysOnly = true
        let ranges = try await ask(EtcdTransaction(success: [.range(all), .range(count), .range(names)]))
        #expect(ranges.range(0)?.hasMore == true && ranges.range(1)?.count == 2)
        let gone = try await ask(EtcdTransaction(success: [.delete(key: keys[0]), .deleteAll(prefix: all.key)]))
        #expect(gone.results == [.deleted, .deleted])
        await client.shutdown()
    }
}
