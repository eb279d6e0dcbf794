import CoreTestKit
import Domain
import Foundation
import Testing

@testable import CloudEtcd

struct EtcdAnswerTextTests {
    private func read(_ text: String) -> EtcdTransactionAnswer? { try? EtcdTransactionAnswer.read(text.utf8) }

    // From etcd 3.4.23, asked with curl for a range of one of two keys, a put on a condition, and a deletion.
    private static let whole =
        #"{"header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","revision":"3","#
        + #""raft_term":"2"},"succeeded":true,"responses":[{"response_txn":{"header":{},"succeeded":true,"#
        + #""responses":[{"response_range":{"header":{"revision":"2"},"kvs":[{"key":"YQ==","create_revision":"2","#
        + #""mod_revision":"2","version":"1","value":"dmE="}],"more":true,"count":"2"}}]}},{"response_txn":"#
        + #"{"header":{},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"3"}}}]}},"#
        + #"{"response_delete_range":{"header":{"revision":"3"},"deleted":"1"}}]}"#

    private static var meant: EtcdTransactionAnswer {
        let entry = EtcdEntry(key: Array("a".utf8), value: Array("va".utf8), revision: 2)
        let range = EtcdRangeAnswer(entries: [entry], hasMore: true, count: 2)
        var answer = EtcdTransactionAnswer(
            revision: 3, succeeded: true,
            results: [
                .transaction(EtcdTransactionAnswer(revision: 0, succeeded: true, results: [.range(range)])),
                .transaction(EtcdTransactionAnswer(revision: 0, succeeded: true, results: [.put])), .deleted,
            ])
        answer.reign = EtcdTerm(cluster: "324952591200643719", term: 2)
        return answer
    }

    /// As etcd's gateway writes it, and as another version or a proxy might.
    @Test(arguments: [
        whole, whole.replacing(",", with: " ,\n ").replacing(":", with: " : "), whole.replacing(#""3""#, with: "3"),
        whole.replacing(#""succeeded""#, with: #""new":{"a":[1,{"b":null}]},"succeeded""#),
        whole.replacing(#""more""#, with: #""lease":null,"more""#), whole.replacing("header", with: #"h\u0065ader"#),
    ])
    func answer_isRead_inAnyForm(text: String) { #expect(read(text) == Self.meant) }

    @Test(arguments: [
        "", "{", "{}", "[]", "null", #"{"header":{}}x"#, #"{"header":{"revision":"03"}}"#, #"{"header":[]}"#,
        #"{"header":{"revision":"99999999999999999999"}}"#, #"{"header":{"revision":"3}}"#, #"{"header":null}"#,
        #"{"header":{"revision":3.5}}"#, #"{"header":{},"succeeded":1}"#, #"{"header":{},"responses":[{}]}"#,
        #"{"header":{},"responses":{}}"#, #"{"header":{},"responses":[1]}"#, #"{"header":{},"x":}"#,
        #"{"header":{"x":}}"#, #"{"header":{},"responses":[{"x":}]}"#,
        #"{"header":{},"responses":[{"response_put":{"x":}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"x":}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ==","x":}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YR=="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":"YQ==","value":"?"}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"value":"YQ=="}]}}]}"#,
        #"{"header":{},"responses":[{"response_range":{"kvs":[{"key":null}]}}]}"#,
    ])
    func whatIsNoAnswer_isRefused(_ text: String) { #expect(read(text) == nil) }

    /// However deep: the stack has an end.
    @Test func transactionsInTransactions_haveAnEnd() {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"header":{},"responses":[{"response_txn":"#, count: depth) + #"{"header":{}}"#
                + String(repeating: "}]}", count: depth)
        }
        #expect(read(nested(1)) != nil)
        #expect(read(nested(100_000)) == nil)
    }

    /// What is read of a damaged answer is JSON.
    @Test(arguments: 0..<50)
    func damagedAnswer_isReadOrRefused(seed: Int) {
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
            guard (try? EtcdTransactionAnswer.read(bytes)) != nil else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil, "seed \(seed) round \(round): \(text)")
        }
    }

    @Test(arguments: 0..<20)
    func anyEntries_comeBack(seed: Int) {
        var rng = SeededRNG(seed: UInt64(seed))
        let entries = (0..<rng.below(21)).map { _ in
            EtcdEntry(
                key: rng.bytes(rng.below(71)), value: rng.bytes(rng.below(71)), revision: Int64(bitPattern: rng.next()))
        }
        let kvs = entries.map {
            #"{"key":"\#(Data($0.key).base64EncodedString())","mod_revision":"\#($0.revision)","#
                + #""value":"\#(Data($0.value).base64EncodedString())"}"#
        }
        let text =
            #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[\#(kvs.joined(separator: ","))]}}]}"#

        #expect(read(text)?.range(0)?.entries == entries)
    }
}
