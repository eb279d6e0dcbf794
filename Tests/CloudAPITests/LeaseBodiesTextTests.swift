import CloudAPI
import Foundation
import Testing

struct LeaseBodiesTextTests {
    private static let plain = LeaseBody(
        meter: "AA:BB:CC:DD:EE:01", state: "free", token: 0, ttl: 120_000, lockDelay: 15_000, policy: "keep",
        remaining: 0)

    /// Every field has a value.
    private static var full: LeaseBody {
        var lease = LeaseBody(
            meter: "usb:0483:5740:a/b", state: "held", token: 9_007_199_254_740_991, ttl: 120_000, lockDelay: -1,
            policy: "strict", remaining: 119_999, waiting: ["désk \"2\"", "a\\b\n\u{1}", ""])
        lease.holderID = "6f1c2a34-0000-4000-8000-000000000001"
        lease.holderName = "Büro\t\"1\""
        lease.session = "6f1c2a34-0000-4000-8000-000000000002"
        lease.transport = "usb"
        lease.acquiredAt = "2026-11-21T13:40:05.250Z"
        lease.expiresAt = "2026-11-21T13:42:05.250Z"
        lease.oldHolderTold = false
        return lease
    }

    private static var results: [RenewAnswer.Result] {
        [
            RenewAnswer.Result(meter: plain.meter, result: "renewed", lease: full),
            RenewAnswer.Result(meter: "no meter", result: "unknown", lease: nil),
            RenewAnswer.Result(meter: plain.meter, result: "takenOver", lease: plain),
        ]
    }

    /// It is the same JSON as a coder writes, and reads as the same value.
    private func check<Body: WrittenBody & Decodable & Equatable>(_ body: Body) throws {
        let text = Data(try #require(body.text))

        #expect(try JSONDecoder().decode(Body.self, from: text) == body)
        let coded = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(body)) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: text) as? NSDictionary == coded)
    }

    @Test func lease_isWhatACoderWrites() throws {
        try check(Self.plain)
        try check(Self.full)
        let fields = try JSONSerialization.jsonObject(with: Data(try #require(Self.full.text))) as? NSDictionary
        #expect(
            fields?.count == Mirror(reflecting: Self.full).children.count,
            "a field is not written, or has no value here")
    }

    /// As all answers but those full of records.
    @Test func keys_areSorted() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var lease = Self.full
        // Control characters have two spellings.
        (lease.holderName, lease.waiting) = ("Büro", ["désk \"2\"", ""])
        let answer = RenewAnswer(results: [RenewAnswer.Result(meter: "m", result: "renewed", lease: lease)])

        #expect(try #require(lease.text) == Array(try encoder.encode(lease)))
        #expect(try #require(answer.text) == Array(try encoder.encode(answer)))
    }

    @Test func renewals_areWhatACoderWrites() throws {
        try check(RenewAnswer(results: []))
        try check(RenewAnswer(results: Self.results))
    }

    // MARK: Requests

    private static let renewal = RenewRequest(
        session: "6f1c2a34-0000-4000-8000-000000000002",
        leases: [
            RenewRequest.Lease(meter: "AA:BB:CC:DD:EE:01", token: 7),
            RenewRequest.Lease(meter: "désk \"2\"", token: 9_007_199_254_740_991),
        ])

    private static var acquire: AcquireRequest {
        var request = AcquireRequest(requestID: "r", session: "s", transport: "usb")
        request.previousSession = "p"
        request.ttl = 120_000
        request.policy = "strict"
        request.tokenFloor = 5
        return request
    }

    /// A coder may write the keys in any order, and does so in another one each time.
    @Test func requests_areReadInAnyOrder() throws {
        for _ in 0..<20 {
            #expect(RenewRequest(text: try JSONEncoder().encode(Self.renewal)) == Self.renewal)
            #expect(AcquireRequest(text: try JSONEncoder().encode(Self.acquire)) == Self.acquire)
        }
        let turned = #"{"leases":[{"token":7,"meter":"m"}],"session":"s"}"#
        let leases = [RenewRequest.Lease(meter: "m", token: 7)]
        #expect(RenewRequest(text: Array(turned.utf8)) == RenewRequest(session: "s", leases: leases))
        let none = #"{"session":"s","leases":[]}"#
        #expect(RenewRequest(text: Array(none.utf8)) == RenewRequest(session: "s", leases: []))
        let blanks = " { \"session\" : \"s\" ,\n\"leases\" : [ ] } "
        #expect(RenewRequest(text: Array(blanks.utf8)) == RenewRequest(session: "s", leases: []))
        let few = AcquireRequest(requestID: "r", session: "s", transport: "ble")
        #expect(AcquireRequest(text: try JSONEncoder().encode(few)) == few)
    }

    @Test func requests_thatAreDamaged_areNotRead() throws {
        sabotage(RenewRequest.self, as: Array(try JSONEncoder().encode(Self.renewal)))
        sabotage(AcquireRequest.self, as: Array(try JSONEncoder().encode(Self.acquire)))
    }

    @Test(arguments: [
        #"{"requestID":"r","session":"s","transport":"usb","takeover":{"token":5}}"#,
        #"{"requestID":"r","session":"s","transport":"usb","ttl":9223372036854775808}"#,
        #"{"requestID":"r","session":"s","transport":"usb","ttl":-1}"#,
        #"{"requestID":"r","session":"s","transport":"usb","ttl":null}"#,
        #"{"requestID":"r","session":"s","transport":"usb","session":"t"}"#,
        #"{"requestID":"r","session":"s","transport":"usb","more":1}"#, #"{"requestID":"r","session":"s"}"#,
    ])
    func otherAcquires_areForACoder(text: String) {
        #expect(AcquireRequest(text: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        #"{"session":"s","leases":[{"meter":"m","token":7.0}]}"#,
        #"{"session":"s","leases":[{"meter":"m","token":07}]}"#,
        #"{"session":"s","leases":[{"meter":"m","token":18446744073709551615}]}"#, #"{"session":"s","leases":[,]}"#,
        #"{"session":"s","leases":[{"meter":"m"}]}"#, #"{"session":"s","session":"t","leases":[]}"#, #"{"leases":[]}"#,
        // No JSON at all.
        #"{"session":,"session":"s","leases":[]}"#, #"{"session":"s","leases":,"leases":[]}"#,
        #"{"session":"s","leases":[{"meter":,"meter":"m","token":7}]}"#,
    ])
    func otherRenewals_areForACoder(text: String) {
        #expect(RenewRequest(text: Array(text.utf8)) == nil)
    }
}
