import CoreTestKit
import LinuxIO
import MeterTestKit
import Testing

struct NetlinkMessageTests {
    /// RTM_NEWLINK for `lo`, index 1, as a kernel sends it: up and running, with the attributes mtu and name.
    private static let link: [UInt8] =
        header(length: 48, type: 16) + [0, 0, 4, 3, 1, 0, 0, 0, 0x49, 0, 1, 0, 0, 0, 0, 0]
        + [8, 0, 4, 0, 0, 0, 1, 0] + [7, 0, 3, 0, 0x6C, 0x6F, 0, 0]
    /// RTM_DELADDR of index 7, IPv4.
    private static let addressGone: [UInt8] = header(length: 24, type: 21) + [2, 24, 0, 0, 7, 0, 0, 0]

    private static func header(length: UInt8, type: UInt8) -> [UInt8] {
        [length, 0, 0, 0, type, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]
    }

    private func decode(_ bytes: [UInt8]) -> [NetlinkMessage] { bytes.withUnsafeBytes { NetlinkMessage.decode($0) } }

    @Test func link_hasItsNameAndWhetherItIsUp() {
        #expect(decode(Self.link) == [.link(index: 1, isUp: true, name: "lo")])
        var down = Self.link
        down[24] = 0x09
        #expect(decode(down) == [.link(index: 1, isUp: false, name: "lo")])
    }

    @Test func severalMessages_areReadOneAfterTheOther_alignedToFour() {
        var odd = Self.header(length: 17, type: 24) + [2, 0, 0, 0]
        odd += Self.addressGone
        #expect(decode(Self.link + odd) == [.link(index: 1, isUp: true, name: "lo"), .route, .addressGone(index: 7)])
    }

    @Test func everyKind_isKnown() {
        let body: [UInt8] = [0, 0, 0, 0, 5, 0, 0, 0]
        func one(_ type: UInt8) -> [NetlinkMessage] { decode(Self.header(length: 24, type: type) + body) }
        #expect(one(17) == [.linkGone(index: 5)])
        #expect(one(20) == [.address(index: 5)])
        #expect(one(25) == [.routeGone])
        #expect(one(4) == [.overrun])
        #expect(one(99) == [.other(type: 99)])
        #expect(one(3).isEmpty, "the end of a dump")
        #expect(decode(Self.header(length: 20, type: 2) + [0xF3, 0xFF, 0xFF, 0xFF]) == [.failure(code: 13)])
        #expect(decode(Self.header(length: 20, type: 2) + [0, 0, 0, 0x80]) == [.failure(code: .min)])
    }

    @Test func nothing_isNoMessage() {
        #expect(decode([]).isEmpty)
    }

    @Test func truncatedMessage_isMalformed_atEveryLength() {
        for length in 1..<Self.link.count {
            #expect(decode(Array(Self.link.prefix(length))) == [.malformed], "\(length) bytes")
        }
        #expect(decode(Self.addressGone + [1, 2, 3]) == [.addressGone(index: 7), .malformed])
    }

    @Test func bodyThatIsTooShort_isMalformed() {
        for type: UInt8 in [2, 16, 17, 20, 21] {
            #expect(decode(Self.header(length: 16, type: type)) == [.malformed])
        }
    }

    @Test func lengthBelowTheHeader_doesNotLoop() {
        #expect(decode(Self.header(length: 0, type: 16)) == [.malformed])
        #expect(decode(Self.header(length: 15, type: 16)) == [.malformed])
    }

    /// No bytes trap, whatever they are.
    @Test(arguments: UInt64(1)...40)
    func mutatedMessages_neverTrap(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let whole = Self.link + Self.addressGone + Self.link
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0...rng.below(4) { bytes[rng.below(bytes.count)] = UInt8(rng.below(256)) }
            let messages = decode(Array(bytes.prefix(rng.below(bytes.count + 1))))
            #expect(messages.count <= bytes.count / 16 + 1, "seed \(seed)")
        }
    }
}
