import CoreTestKit
import Domain
import ESPHomeCore
import Testing

struct FramingTests {
    private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { $0 != " " }) ?? [] }

    /// Made with PyPI's noiseprotocol 0.3.1, which Tests/Proxy/run has as the other end too.
    @Test func handshake_givesTheBytesOfAnotherImplementation() {
        let key = (0..<32).map { UInt8($0) }
        var host = NoiseHandshake(
            .initiator, key: key, prologue: APIFraming.prologue, ephemeral: [UInt8](repeating: 0x11, count: 32))
        var node = NoiseHandshake(
            .responder, key: key, prologue: APIFraming.prologue, ephemeral: [UInt8](repeating: 0x22, count: 32))

        let first = host.write() ?? []
        #expect(
            first
                == Self.bytes(
                    "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13 d1bc1a38b6793685dc7e2ffdf8ea0933")
        )
        let isRead1 = node.read(first)
        #expect(isRead1)
        let second = node.write() ?? []
        #expect(
            second
                == Self.bytes(
                    "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20 7336b95933b321b1ae86673f689f5c9f")
        )
        let isRead2 = host.read(second)
        #expect(isRead2)
        #expect(host.hash == Self.bytes("9fbfe40f5a75a9ec6e8f7e6982afebb114835c543b8729c12c266990978dc80e"))
        #expect(host.hash == node.hash)

        var sending = host.split.sending
        let hello = HelloRequest.made { ($0.client, $0.major, $0.minor) = ("x", 1, 14) }
        let plain = FrameWriter.inner(hello.frame)
        #expect(plain == Self.bytes("00010007 0a0178 1001 180e"))
        let sealed = sending.seal(plain)
        #expect(sealed == Self.bytes("082c88d34756cd4f398f9455e0e6e2cdeace627cc4b474dac9fda5"))
        var receiving = host.split.receiving
        let answer = Self.bytes("d9423bf48bdea62bb10bbd87a7fb5ecc26721050")
        let opened = (receiving.open(answer), receiving.open(answer))
        #expect(opened.0 == FrameWriter.inner(EmptyMessage.pingResponse))
        // Out of turn: each message has its own number.
        #expect(opened.1 == nil)
    }

    @Test func otherKey_orChangedMessage_isRefused() {
        let key = [UInt8](repeating: 7, count: 32)
        func node(_ key: [UInt8]) -> NoiseHandshake {
            NoiseHandshake(
                .responder, key: key, prologue: APIFraming.prologue, ephemeral: [UInt8](repeating: 2, count: 32))
        }
        var host = NoiseHandshake(
            .initiator, key: key, prologue: APIFraming.prologue, ephemeral: [UInt8](repeating: 1, count: 32))
        var message = host.write() ?? []

        var (right, wrong) = (node(key), node([UInt8](repeating: 8, count: 32)))
        let isRead3 = right.read(message)
        #expect(isRead3)
        let isRead4 = wrong.read(message)
        #expect(!isRead4)
        let isRead5 = right.read(Array(message.dropLast()))
        #expect(!isRead5)
        message[47] ^= 1
        var again = node(key)
        let isRead6 = again.read(message)
        #expect(!isRead6)
        // A public key that contributes nothing (RFC 7748, 6.1).
        let isRead7 = host.read([UInt8](repeating: 0, count: 48))
        #expect(!isRead7)
    }

    @Test(
        arguments: [
            ([1, 0, 0], APIFraming.Form.plaintext, APIFault.wantsEncryption), ([0, 0, 2], .sealed, .hasNoKey),
            ([0x47], .plaintext, .malformed("a frame begins with 0x47")),
            ([0, 0xFF, 0xFF, 0xFF, 0xFF, 1], .plaintext, .malformed("a number of more than four bytes")),
            ([0, 0x80, 0x80, 0x04, 1], .plaintext, .malformed("a message of 65536 bytes")),
        ] as [([UInt8], APIFraming.Form, APIFault)])
    func bytesThatAreNoFrame_areAFault(bytes: [UInt8], form: APIFraming.Form, fault: APIFault) {
        var splitter = APIFraming(form)
        splitter.append(bytes)
        #expect(throws: fault) { try splitter.next() }
    }

    @Test func message_readsWhatItKnows_andSkipsTheRest() throws {
        // Fields 1 to 3, one unknown of each wire type, and a second value for 1.
        let unknown: [UInt8] = [0x78, 5, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7A, 1, 9, 0x7D, 1, 2, 3, 4]
        let free = try #require(
            ProtoMessage<ConnectionsFree>(encoded: [8, 1, 16, 3] + unknown + [24, 7, 26, 3, 8, 0x80, 1, 8, 2]))
        #expect((free.free, free.limit, free.allocated) == (2, 3, [7, 8, 128]))

        for bytes: [UInt8] in [
            [8], [26, 5, 1], [26, 1, 0x80], [11], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
        ] {
            #expect(ProtoMessage<ConnectionsFree>(encoded: bytes)?.allocated == nil)
        }
        let heard = RawAdvertisements.made {
            let one = RawAdvertisement.made {
                ($0.address, $0.rssi, $0.addressType, $0.data) = (0xAABB_CCDD_EEFF, -70, 1, [2, 1, 6])
            }
            $0.list = [one, RawAdvertisement.made { _ in }]
        }
        #expect(RawAdvertisements.read(heard.frame) == heard)
        #expect(heard.list?.map(\.rssi) == [-70, 0] && heard.list?.first?.data == [2, 1, 6])
        let lost = DeviceConnection.made { ($0.address, $0.error) = (1, -1) }
        #expect(DeviceConnection.read(lost.frame) == lost && lost.error == -1)
        // A message within that ends in a field, and more fields than any node sends.
        #expect(ProtoMessage<RawAdvertisements>(encoded: [10, 1, 8])?.list == nil)
        let many = [UInt8](repeating: 8, count: 4096)
        #expect(ProtoMessage<ConnectionsFree>(encoded: many) == nil)
    }

    @Test func key_isRead_unlessItIsNone() {
        // RFC 4648 by Python's base64.b64encode(bytes(range(32))).
        #expect(NodeKey(base64: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")?.bytes == (0..<32).map { UInt8($0) })
        let zero = String(repeating: "A", count: 43) + "="
        for text in [zero, "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", String(repeating: "-", count: 43) + "="] {
            #expect(NodeKey(base64: text) == nil)
        }
        #expect("\(NodeKey(base64: String(repeating: "Q", count: 43) + "=").debugDescription)".contains("redacted"))
    }
}
