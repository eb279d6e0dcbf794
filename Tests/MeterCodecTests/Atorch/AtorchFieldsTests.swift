import Domain
import MeterCodec
import Testing

/// Where each field of a report is, what a step of it is worth and what is too much (Docs/Protocols/Atorch.md#reports).
struct AtorchFieldsTests {
    private typealias Field = (quantity: Quantity, offset: Int, width: Int, step: Double, max: UInt32)

    private static let fields: [AtorchReportType: [Field]] = [
        .ac: [
            (.voltage, 4, 3, 0.1, 10_000), (.current, 7, 3, 0.001, 500_000), (.power, 10, 3, 0.1, 5_000_000),
            (.energy, 13, 4, 10, 99_999_999), (.price, 17, 3, 0.01, 9_999_999), (.frequency, 20, 2, 0.1, 5000),
            (.powerFactor, 22, 2, 0.001, 1000), (.temperature, 24, 2, 1, 200),
        ],
        .dc: [
            (.voltage, 4, 3, 0.1, 20_000), (.current, 7, 3, 0.001, 2_000_000), (.charge, 10, 3, 10, 9_999_999),
            (.energy, 13, 4, 10, 99_999_999), (.price, 17, 3, 0.01, 9_999_999), (.temperature, 24, 2, 1, 200),
        ],
        .usb: [
            (.voltage, 4, 3, 0.01, 10_000), (.current, 7, 3, 0.01, 5000), (.charge, 10, 3, 1, 9_999_999),
            (.energy, 13, 4, 0.01, 99_999_999), (.dataMinus, 17, 2, 0.01, 3000), (.dataPlus, 19, 2, 0.01, 3000),
            (.temperature, 21, 2, 1, 200),
        ],
    ]

    @Test(arguments: AtorchReportType.allCases)
    func everyField_isInItsPlace(type: AtorchReportType) throws {
        let expected = try #require(Self.fields[type])
        #expect(type.fields.map(\.quantity) == expected.map(\.quantity))
        for (field, expected) in zip(type.fields, expected) {
            #expect(field.offset == expected.offset && field.width == expected.width, "\(field.quantity)")
            #expect(field.rawMax == expected.max, "\(field.quantity)")
            // Every byte of it counts, the first most, and its neighbours do not.
            for place in 0..<36 {
                var report = [UInt8](repeating: 0, count: 36)
                report[place] = 7
                let index = place - expected.offset
                let raw =
                    (0..<expected.width).contains(index) ? 7 << UInt32(8 * (expected.width - 1 - index)) : UInt32(0)
                let found = report.withUnsafeBytes { (field.raw(in: $0), field.value(in: $0)) }
                #expect(found.0 == raw, "\(field.quantity) \(place)")
                let value = Double(raw) * expected.step
                let error = found.1.map { abs($0 - value) }
                #expect(raw <= expected.max ? error.map { $0 <= 1e-12 * value } == true : error == nil)
            }
        }
        #expect(type.timeOffset == (type == .usb ? 23 : 26))
        #expect(AtorchReportType(model: type.model) == type)
        #expect(AtorchReportType(model: .um25c) == nil)
    }
}
