import Testing

@testable import Domain

struct AlertUnitTests {
    @Test(arguments: [
        ("50mA", "50", "mA"), ("-1V/s", "-1", "V/s"), ("+2", "+2", ""), ("1.5kΩ", "1.5", "kΩ"), ("5-3A", "5", "-3A"),
        ("5+3", "5", "+3"), ("mA", "", "mA"), ("", "", ""), ("-", "-", ""), ("٣A", "", "٣A"),
    ])
    func word_isSplitAfterItsNumber(word: String, digits: String, suffix: String) {
        #expect(AlertUnits.split(word) == (digits, suffix))
    }
}
