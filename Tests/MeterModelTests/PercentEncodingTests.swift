import Domain
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

    /// RFC 3986, section 2.3: letters, digits and four signs stay as they are, and nothing else does.
    @Test func everyByte_isWrittenAsTheStandardSays() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        for value in UInt8(0)...0x7F {
            let text = String(Character(UnicodeScalar(value)))
            let digits = String(value, radix: 16, uppercase: true)
            let escaped = "%" + (digits.count == 1 ? "0" : "") + digits
            #expect(text.percentEncoded == (unreserved.contains(text) ? text : escaped), "\(value)")
            #expect(escaped.percentDecoded == text)
            #expect("%\(digits)".lowercased().percentDecoded == (digits.count == 2 ? text : nil))
        }
        #expect("ö%".percentEncoded == "%C3%B6%25")
    }
}
