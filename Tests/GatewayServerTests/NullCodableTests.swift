import Foundation
import GatewayAPI
import Testing

struct NullCodableTests {
    private struct Body: Codable, Hashable {
        var id: String
        @NullCodable var name: String?

        init(id: String) { self.id = id }
    }

    @Test func unknown_isNull_andNotMissing() throws {
        let text = String(decoding: try JSONEncoder().encode(Body(id: "1")), as: UTF8.self)
        #expect(text.contains(#""name":null"#))
    }

    @Test(arguments: [#"{"id":"1","name":null}"#, #"{"id":"1"}"#])
    func nullAndMissing_areReadAlike(_ text: String) throws {
        #expect(try JSONDecoder().decode(Body.self, from: Data(text.utf8)) == Body(id: "1"))
    }

    @Test func known_isAsItIs() throws {
        var body = Body(id: "1")
        body.name = "Desk"
        #expect(try JSONDecoder().decode(Body.self, from: JSONEncoder().encode(body)).name == "Desk")
    }
}
