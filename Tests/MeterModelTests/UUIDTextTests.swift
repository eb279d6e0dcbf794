import Domain
import Testing

struct UUIDTextTests {
    private static let text = "0123a567-89ab-4def-8123-456789abcdef"
    private static let host = HostID(high: 0x0123_A567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)

    private func read(_ bytes: [UInt8], inAnyCase: Bool) -> HostID? {
        bytes.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.flatMap { UUIDText.read($0, inAnyCase: inAnyCase) }.map {
                HostID(high: $0.high, low: $0.low)
            }
        }
    }

    @Test func id_isWritten_asOthersWriteUUIDs() {
        #expect(Self.host.description == Self.text)
        #expect(HostID(Self.text) == Self.host)
        #expect(HostID(high: .max, low: 0).description == "ffffffff-ffff-ffff-0000-000000000000")
        #expect(HostID(Self.text.uppercased()) == Self.host, "in any case")
        #expect(HostID(Self.text + "0") == nil)
        #expect(HostID(Self.text.dropLast()) == nil)
    }

    /// Each byte in each place: a digit, a dash where one belongs, a capital letter where that is allowed, nothing else.
    @Test func everyOtherByte_isRefused_inEachPlace() {
        for place in 0..<UUIDText.length {
            let isDash = [8, 13, 18, 23].contains(place)
            for byte in UInt8.min ... .max {
                var bytes = Array(Self.text.utf8)
                bytes[place] = byte
                let scalar = Character(UnicodeScalar(byte))
                let isDigit = scalar.isASCII && scalar.isHexDigit && !isDash
                let isGood = isDigit || isDash && byte == UInt8(ascii: "-")
                #expect((read(bytes, inAnyCase: true) != nil) == isGood, "\(byte) at \(place)")
                let isSmall = isGood && !scalar.isUppercase
                #expect((read(bytes, inAnyCase: false) != nil) == isSmall, "\(byte) at \(place)")
            }
        }
    }
}
