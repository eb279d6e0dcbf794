import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct SDPAnswerTests {
    /// The protocols of a serial port: L2CAP, and RFCOMM with its channel.
    private static func protocols(_ channel: UInt8) -> [UInt8] {
        sequence([sequence([0x19, 0x01, 0x00]), sequence([0x19, 0x00, 0x03, 0x08, channel])])
    }

    private static func sequence(_ parts: [UInt8]) -> [UInt8] { [0x35, UInt8(parts.count)] + parts }
    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { sequence(parts.flatMap { $0 }) }

    private static func record(_ channel: UInt8) -> [UInt8] {
        // Its handle, its class, its protocols and its name.
        sequence([
            [0x09, 0x00, 0x00, 0x0A, 0x00, 0x01, 0x00, 0x01], [0x09, 0x00, 0x01] + sequence([0x19, 0x11, 0x01]),
            [0x09, 0x00, 0x04] + protocols(channel), [0x09, 0x01, 0x00, 0x25, 0x03] + Array("SPP".utf8),
        ])
    }

    @Test func channel_isOfTheFirstRecordThatHasOne() {
        #expect(SDPAnswer.rfcommChannel(in: Self.sequence([Self.record(2)])) == 2)
        #expect(
            SDPAnswer.rfcommChannel(in: Self.sequence([Self.sequence([UInt8]()), Self.record(5), Self.record(1)])) == 5)
        #expect(SDPAnswer.rfcommChannel(in: Self.sequence([Self.record(31), Self.record(30)])) == 30)
    }

    @Test func alternatives_areLookedThrough() {
        let two = Self.sequence([Self.protocols(0), Self.protocols(9)])
        let record = Self.sequence([[0x09, 0x00, 0x04], [0x3D, UInt8(two.count - 2)] + two.dropFirst(2)])
        #expect(SDPAnswer.rfcommChannel(in: Self.sequence([record])) == 9)
    }

    @Test func longNames_meanTheSame() {
        let base: [UInt8] = [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB]
        let stack = Self.sequence(Self.sequence([0x1C, 0x00, 0x00, 0x00, 0x03] + base + [0x08, 3]))
        // And lengths in two and in four bytes.
        let record = [0x36, 0x00, UInt8(stack.count + 3), 0x09, 0x00, 0x04] + stack
        #expect(SDPAnswer.rfcommChannel(in: [0x37, 0, 0, 0, UInt8(record.count)] + record) == 3)
    }

    @Test(arguments: [
        "", "35", "3500", "35ff", "37ffffffff", "00", "0901", "35023500", "3505090004 0801", "350309 0004",
    ])
    func answerWithoutAPort_hasNone(hex: String) throws {
        #expect(SDPAnswer.rfcommChannel(in: try #require(Hex.decode(hex))) == nil)
    }

    @Test func deepNest_isRefused() {
        var bytes: [UInt8] = [0x35, 0x00]
        for _ in 0..<60 { bytes = [0x35, UInt8(bytes.count)] + bytes }
        #expect(SDPAnswer.rfcommChannel(in: bytes) == nil)
        var rest = bytes[...]
        #expect(SDPElement(from: &rest) == nil)
    }

    /// Each byte of an answer changed and each length of it: read or refused, and a channel is one that exists.
    @Test(arguments: 0..<UInt64(50))
    func damagedAnswer_isReadOrRefused(seed: UInt64) {
        let whole = Self.sequence([Self.record(2), Self.record(3)])
        var rng = SeededRNG(seed: seed)
        for index in whole.indices {
            var spoilt = whole
            spoilt[index] = UInt8(truncatingIfNeeded: rng.next())
            #expect(SDPAnswer.rfcommChannel(in: spoilt).map { (1...30).contains($0) } ?? true, "seed \(seed)")
            #expect(SDPAnswer.rfcommChannel(in: Array(whole.prefix(index))) == nil)
            let length = rng.below(60)
            _ = SDPAnswer.rfcommChannel(in: rng.bytes(length))
        }
    }
}
