import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import USBTransport

struct BulkInterfaceTests {
    /// The device descriptor and the configuration of a real KM003C, as a usbmon capture has them (okhsunrog/km003c-rs,
    /// history, wireshark/orig_with_pd.13.pcapng at ded917a).
    private static func km003c() throws -> [UInt8] {
        let device = try #require(Hex.decode("12011002ef020120c95f6300000101040301"))
        let text = try #require(PublishedDevice.named("KM003C")?.config_descriptor_hex)
        return device + (try #require(Hex.decode(text)))
    }

    @Test func km003c_hasItsMakersInterface() throws {
        let interface = try #require(BulkInterface(descriptors: try Self.km003c()))
        #expect((interface.vendor, interface.product) == (0x5FC9, 0x0063))
        #expect((interface.number, interface.input, interface.output) == (0, 0x81, 0x01))
    }

    @Test func interfaceIsChosenByItsClass_notByItsNumber() throws {
        var bytes = try Self.km003c()
        // Its first interface becomes number 4.
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [9, 4, 0, 0, 2, 0xFF]) })
        bytes[place + 2] = 4
        #expect(BulkInterface(descriptors: bytes)?.number == 4)
        bytes[place + 5] = 0x08
        #expect(BulkInterface(descriptors: bytes) == nil)
    }

    @Test func otherAlternateSettings_andInterruptEndpoints_areNotTaken() throws {
        let bytes = try Self.km003c()
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [9, 4, 0, 0, 2, 0xFF]) })
        var other = bytes
        other[place + 3] = 1
        #expect(BulkInterface(descriptors: other) == nil)
        var interrupt = bytes
        interrupt[place + 9 + 3] = 3
        #expect(BulkInterface(descriptors: interrupt) == nil)
    }

    @Test func whatIsCutShort_isNoInterface() throws {
        let bytes = try Self.km003c()
        let whole = try #require(BulkInterface(descriptors: bytes))
        for count in 0..<bytes.count {
            let found = BulkInterface(descriptors: Array(bytes.prefix(count)))
            #expect(found == nil || found == whole)
        }
        #expect(BulkInterface(descriptors: Array(bytes.prefix(18))) == nil)
    }

    @Test func anyBytes_areHarmless() throws {
        var rng = SeededRNG(seed: 0x0B01)
        let real = try Self.km003c()
        var foundCount = 0
        for _ in 0..<20_000 {
            var bytes = real
            for _ in 0..<Int.random(in: 1...8, using: &rng) {
                bytes[Int.random(in: bytes.indices, using: &rng)] = .random(in: 0...255, using: &rng)
            }
            let shown = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &rng)))
            guard let found = BulkInterface(descriptors: shown) else { continue }
            foundCount += 1
            #expect(found.input & 0x80 != 0 && found.output & 0x80 == 0, "\(Hex.encode(shown))")
        }
        // Some are still whole.
        #expect((1..<20_000).contains(foundCount))
    }
}
