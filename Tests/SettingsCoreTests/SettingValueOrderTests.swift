import Domain
import Testing

/// Hosts with two equal stamps end alike because values have one order.
struct SettingValueOrderTests {
    private static let ascending: [SettingValue] = [
        .null, .bool(false), .bool(true), .int(.min), .int(-1), .int(0), .int(.max), .double(0), .double(1),
        .double(.infinity), .double(-0.0), .double(-1), .string(""), .string("A"), .string("a"), .string("aa"),
        .string("e\u{301}"), .string("\u{E9}"),
    ]

    @Test func values_haveATotalOrder() {
        for (place, left) in Self.ascending.enumerated() {
            for (other, right) in Self.ascending.enumerated() {
                #expect((left < right) == (place < other), "\(left), \(right)")
                #expect((left == right) == (place == other), "\(left), \(right)")
            }
        }
    }
}
