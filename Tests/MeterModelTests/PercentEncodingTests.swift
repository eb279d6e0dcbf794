import MeterModel
import Testing

struct PercentEncodingTests {
    @Test(arguments: ["", "bench", "AA:BB", "a/b c%2F", "Größe –", "a-b.c_d~9", "..", "\u{0}\n"])
    func text_comesBack(_ text: String) {
        #expect(text.percentEncoded.percentDecoded == text)
        #expect(!text.percentEncoded.contains("/"))
    }

    @Test(arguments: ["%", "%2", "%zz", "a%4", "%ff", "%C3"])
    func brokenEscape_isNone(_ text: String) {
        #expect(text.percentDecoded == nil)
    }

    @Test func digits_mayBeSmall() {
        #expect("%2f%2F".percentDecoded == "//")
    }
}
