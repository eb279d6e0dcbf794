import Domain
import Testing

/// A number with its unit, as people type it.
struct AmountTests {
    @Test(arguments: [
        ("1.5A", 1.5), ("1500mA", 1.5), ("1.5", 1.5), ("0", 0), (".5A", 0.5), ("123456789012A", 123_456_789_012),
        ("123456789012mA", 123_456_789.012),
    ])
    func amount_isRead(_ text: String, _ amount: Double) {
        #expect(Double(amount: text, unit: "A") == amount)
    }

    /// Much of this is a number to Swift.
    @Test(arguments: [
        "", "A", "mA", ".", "1e3A", "1E3A", "-1A", "+1A", "0x10A", "infA", "nanA", " 1A", "1 A", "1A ", "1,5A",
        "1_000A", "1.2.3A", "1/2A", "1:2A", "1a", "1MA", "1mmA", "1AA", "1V", "1234567890123A", "1234567890123mA", "١A",
    ])
    func anythingElse_isNoAmount(_ text: String) {
        #expect(Double(amount: text, unit: "A") == nil)
    }
}
