import CloudAPI
import Domain
import Foundation
import Testing

struct PageTextTests {
    private static let records = [0, 1, 2].map { number in
        SyncRecord(
            key: RecordKey(type: .deviceSettings, name: "AA:BB:CC:DD:EE:0\(number)"),
            properties: [
                "name \"\(number)\"": Register(value: .string("Désk\n\(number)"), stamp: stamp(5)),
                "n": Register(value: number == 1 ? .double(0.5) : .int(-7), stamp: stamp(6)),
            ],
            deletion: number == 2 ? Deletion(stamp: stamp(4), mergedInto: "x") : nil)
    }

    private static func stamp(_ milliseconds: UInt64) -> Stamp {
        Stamp(milliseconds: milliseconds, counter: 1, host: HostID(high: 0x4000, low: 0x8000_0000_0000_0001))
    }

    private static let results = [
        ModifyAnswer.Result(type: "DeviceSettings", name: "a \"b\"\\"),
        ModifyAnswer.Result(type: "Host", name: "", merged: records[1]),
    ]

    /// Written by a coder, it is the same JSON; read by one, the same value.
    private func check<Body: RecordsBody & Equatable>(_ body: Body) throws {
        let text = try #require(body.text)

        #expect(Body(text: text) == body)
        #expect(Body(text: Data(text)) == body)
        #expect(try JSONDecoder().decode(Body.self, from: Data(text)) == body)
        let coded = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(body)) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: Data(text)) as? NSDictionary == coded)
    }

    private func sabotage<Body: RecordsBody & Equatable>(_ body: Body) throws {
        CloudAPITests.sabotage(Body.self, as: try #require(body.text))
    }

    @Test func request_isWhatACoderReadsAndWrites() throws {
        try check(ModifyRequest(records: []))
        try check(ModifyRequest(records: Self.records))
        try sabotage(ModifyRequest(records: Array(Self.records.prefix(2))))
    }

    @Test func page_isWhatACoderReadsAndWrites() throws {
        try check(ChangesBody(records: [], changeToken: "v1.e.0", moreComing: false, epoch: "e"))
        var page = ChangesBody(records: Self.records, changeToken: "v1.\"e\".7", moreComing: true, epoch: "ü")
        try check(page)
        try sabotage(page)
        page.zoneID = "\"ü\""
        try check(page)
        try sabotage(page)
    }

    @Test func answer_isWhatACoderReadsAndWrites() throws {
        try check(ModifyAnswer(results: [], serverTime: 0))
        let answer = ModifyAnswer(results: Self.results, serverTime: -1_800_000_000_000)
        try check(answer)
        try sabotage(answer)
    }

    @Test func refusal_isForACoder() throws {
        var result = Self.results[0]
        result.error = CloudErrorBody.Content(code: .badRequest, message: "no")
        let answer = ModifyAnswer(results: [result], serverTime: 1)

        #expect(answer.text == nil)
        #expect(ModifyAnswer(text: try JSONEncoder().encode(answer)) == nil)
    }

    @Test(arguments: [
        #"{"records": []}"#, #"{"records":[],"more":1}"#, #"{"records":[,]}"#, #"{"records":[]}{}"#,
        #"{"records":[{"type":"a","name":"b","properties":{"p":{"value":{"int":007},"stamp":"1.0.x"}}}]}"#,
    ])
    func otherJSON_isForACoder(text: String) {
        #expect(ModifyRequest(text: Array(text.utf8)) == nil)
    }

    @Test(arguments: ["007", "+7", "7.0", "1e1", " 7"])
    func number_isReadAsItIsWritten_only(number: String) throws {
        let text = try #require(ModifyAnswer(results: [], serverTime: 7).text)
        let changed = String(decoding: text, as: UTF8.self).replacing("7}", with: "\(number)}")

        #expect(ModifyAnswer(text: Array(changed.utf8)) == nil)
    }
}
