import Domain
import ServerKit
import Testing

struct BearerTokenTests {
    private struct FixedRNG: RandomNumberGenerator {
        var word: UInt64
        mutating func next() -> UInt64 { word }
    }

    @Test func token_is256Bits_inBase64url() {
        var rng = FixedRNG(word: .max)

        let token = BearerToken(using: &rng)

        #expect(token.text == "mgt_" + String(repeating: "_", count: 42) + "8")
    }

    @Test func hash_isSHA256OfTheText() throws {
        let token = try #require(BearerToken(text: "mgt_abc"))

        // printf mgt_abc | sha256sum
        #expect(Hex.encode(token.hash) == "34eb23b17a8ebca3774391dbe46628963c502abee9e4ca0d1a65d138f0b2baef")
    }

    @Test func token_neverPrintsItself() throws {
        let token = try #require(BearerToken(text: "mgt_secret"))

        #expect("\(token)" == "<redacted>")
        #expect(String(reflecting: token) == "<redacted>")
    }

    @Test(arguments: ["Bearer mgt_x", "bearer mgt_x", "BEARER   mgt_x ", " Bearer mgt_x"])
    func header_isRead(header: String) {
        #expect(BearerToken(authorization: header)?.text == "mgt_x")
    }

    @Test(
        arguments: [
            "", "Bearer", "Bearer ", "mgt_x", "Basic mgt_x", "Bearer x", "Bearer mgt_x y",
            "Bearer mgt_" + String(repeating: "x", count: 300),
        ])
    func otherHeader_isNoToken(header: String) {
        #expect(BearerToken(authorization: header) == nil)
    }
}
