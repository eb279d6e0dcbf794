import MeterCodec
import Testing

/// Which headers start a message, kind by kind (Docs/Protocols/KM003C.md#where-a-message-ends): noise that looks like one
/// swallows what follows it.
struct KM003CFramingTests {
    private static let words: [UInt16] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x20, 0x40, 0x80, 0x100, 0x101, 0x102, 0x103, 0x1FF, 0x200, 0x201, 0x202,
        0x203,
        0x204, 0x205, 0x206, 0x2FF, 0x301, 0x3FE, 0x400, 0x401, 0x5FE, 0x600, 0x7FE, 0x1001, 0x1101, 0xFFFF,
    ]

    /// The upper halves that a kind may have, by who sends: what a meter sends to a driver, what it sends to a transfer,
    /// and what a driver sends besides.
    private func legal(_ kind: KM003CKind, _ word: UInt16, _ side: KM003CFraming.Side) -> Bool {
        switch (kind, side) {
        case (.accept, _), (.reject, _), (.notReadable, _), (.disconnect, _): word == 0
        case (.memoryAnswer, .transfer), (.memoryAnswer, .both), (.memoryRead, .both): word == 0x101
        case (.streamingAuth, .transfer): (0x201...0x205).contains(word)
        case (.streamingAuth, .both): (0x200...0x205).contains(word)
        case (.connect, .both), (.stopGraph, .both), (.pdMonitorOff, .both): word == 0
        // Two, ten, fifty and a thousand samples a second.
        case (.startGraph, .both): [0, 2, 4, 6].contains(word)
        case (.pdMonitorOn, .both): [0, 2].contains(word)
        // Attributes 001 to 080 and 200, one bit higher.
        case (.getData, .both): word & ~0x5FE == 0
        default: false
        }
    }

    @Test(arguments: [KM003CFraming.Side.meter, .transfer, .both])
    func header_startsAMessage_onlyWithWhatItsKindMayHave(side: KM003CFraming.Side) {
        let framing = KM003CFraming(side: side)
        for kind in KM003CKind.allCases where kind != .data && kind != .memoryAnswer {
            let length = kind == .memoryRead || kind == .streamingAuth ? 36 : 4
            for word in Self.words {
                let header = [kind.rawValue, 9, UInt8(word & 0xFF), UInt8(word >> 8)]
                let bytes = header + [UInt8](repeating: 0, count: 40)
                let extent = bytes.withUnsafeBytes { framing.measure($0) }
                let expected: KM003CFraming.Extent =
                    legal(kind, word, side) ? .whole(kind, length: length) : .bad(.implausibleField(offset: 2))
                #expect(extent == expected, "\(kind) \(String(word, radix: 16))")
                guard legal(kind, word, side) else { continue }
                let cut = bytes.prefix(length - 1).withUnsafeBytes { framing.measure($0) }
                #expect(cut == .incomplete, "\(kind)")
                #expect(Array(bytes.prefix(length)).withUnsafeBytes { framing.measure($0) } == expected, "\(kind)")
            }
        }
    }

    /// Payloads are full of a byte and three zeros: an answer has a number.
    @Test func answer_hasANumber() {
        for kind in [KM003CKind.accept, .reject, .notReadable, .disconnect] {
            for (id, isOne) in [(0, false), (1, true), (255, true)] as [(UInt8, Bool)] {
                let extent = [kind.rawValue, id, 0, 0].withUnsafeBytes { KM003CFraming(side: .meter).measure($0) }
                #expect((extent == .whole(kind, length: 4)) == isOne, "\(kind) \(id)")
            }
        }
    }

    @Test func memoryAnswer_isCheckedAndBounded() {
        for (size, isOne) in [(24, true), (65_535 * 16, true), (65_535 * 16 + 1, false)] as [(UInt32, Bool)] {
            for word in [0x0101, 0x0100, 0x0201] as [UInt16] {
                var bytes: [UInt8] = [0xC4, 2, UInt8(word & 0xFF), UInt8(word >> 8)]
                bytes.appendLE(UInt32(0x420))
                bytes.appendLE(size)
                bytes += [1, 2, 3, 4]
                bytes.appendLE(Checksum.crc32(bytes[4..<16]))
                for side in [KM003CFraming.Side.meter, .transfer, .both] {
                    let framing = KM003CFraming(side: side)
                    let extent = bytes.withUnsafeBytes { framing.measure($0) }
                    let isLegal = isOne && word == 0x0101 && side != .meter
                    #expect((extent == .whole(.memoryAnswer, length: 20)) == isLegal, "\(size) \(word) \(side)")
                    guard isLegal else { continue }
                    #expect(bytes.prefix(19).withUnsafeBytes { framing.measure($0) } == .incomplete)
                    for place in 4..<20 {
                        var broken = bytes
                        broken[place] ^= 1
                        let extent = broken.withUnsafeBytes { framing.measure($0) }
                        guard case .bad = extent else {
                            Issue.record("byte \(place) is not checked")
                            continue
                        }
                    }
                }
            }
        }
    }

    /// 53 samples and 63 logs make 4096 bytes, the most; a payload without bytes makes them 4100.
    @Test func message_hasUpTo4096Bytes() {
        func extent(hasNext: Bool, _ more: [UInt8]) -> KM003CFraming.Extent {
            let queue = KM003CPayloadHeader(.queue, hasNext: true, chunk: 53, size: 20).bytes
            let logs = KM003CPayloadHeader(.logCatalogue, hasNext: hasNext, chunk: 63, size: 48).bytes
            let bytes: [UInt8] =
                [0x41, 1, 0, 0] + queue + [UInt8](repeating: 0, count: 53 * 20) + logs
                + [UInt8](repeating: 0, count: 63 * 48) + more
            return bytes.withUnsafeBytes { KM003CFraming(side: .meter).measure($0) }
        }
        #expect(extent(hasNext: false, []) == .whole(.data, length: 4096))
        let empty = KM003CPayloadHeader(.pd, size: 0).bytes
        #expect(extent(hasNext: true, empty) == .bad(.impossibleLength(4100)))
    }

    /// Each attribute with its sizes and numbers of samples, to their ends.
    @Test func payloadHeader_isPlausible_withTheSizesThatWereSeen() {
        let cases: [(KM003CAttributes, Int, Int, Bool)] = [
            (.adc, 0, 40, true), (.adc, 0, 44, true), (.adc, 0, 43, false), (.adc, 0, 39, false), (.adc, 0, 41, false),
            (.adc, 0, 64, true), (.adc, 0, 65, false), (.adc, 1, 44, false), (.queue, 0, 20, true),
            (.queue, 63, 20, true), (.queue, 0, 0, true),
            (.queue, 1, 0, false), (.queue, 1, 21, false), (.queue, 0, 1, false), (.settings, 0, 180, true),
            (.settings, 0, 179, false), (.settings, 0, 181, false), (.settings, 1, 180, false), (.pd, 0, 0, true),
            (.pd, 0, 11, false), (.pd, 0, 12, true), (.pd, 0, 300, true), (.pd, 0, 301, false), (.pd, 1, 12, false),
            (.pd, 1, 0, false), (.pdTrace, 0, 0, true), (.pdTrace, 0, 1, false), (.pdTrace, 1, 0, false),
            (.unknown80, 0, 0, true), (.unknown80, 0, 32, true), (.unknown80, 0, 33, false), (.unknown80, 1, 8, false),
            (.logCatalogue, 0, 0, true), (.logCatalogue, 0, 48, true), (.logCatalogue, 0, 96, true),
            (.logCatalogue, 0, 49, false), (.logCatalogue, 2, 48, true), (.logCatalogue, 2, 96, false),
            (KM003CAttributes(rawValue: 0x100), 0, 0, false), ([.adc, .queue], 0, 44, false), ([], 0, 0, false),
        ]
        for (attribute, chunk, size, isPlausible) in cases {
            let header = KM003CPayloadHeader(attribute, chunk: chunk, size: size)
            #expect(header.attribute == attribute && header.chunk == chunk && header.size == size && !header.hasNext)
            for side in [KM003CFraming.Side.meter, .transfer, .both] {
                #expect(header.isPlausible(from: side) == isPlausible, "\(attribute.rawValue) \(chunk) \(size)")
            }
            let next = KM003CPayloadHeader(attribute, hasNext: true, chunk: chunk, size: size)
            #expect(next.hasNext && next.attribute == attribute && next.chunk == chunk && next.size == size)
            #expect(next.word == header.word | 0x8000)
        }
        for attribute in [KM003CAttributes.fastQueue, .quickCharge] {
            let header = KM003CPayloadHeader(attribute, size: 8)
            #expect(header.isPlausible(from: .both))
            #expect(!header.isPlausible(from: .meter) && !header.isPlausible(from: .transfer))
        }
        for (attribute, chunk, length) in [
            (KM003CAttributes.queue, 0, 0), (.queue, 3, 144), (.fastQueue, 0, 48), (.fastQueue, 3, 144),
            (.logCatalogue, 0, 48),
            (.logCatalogue, 1, 48), (.logCatalogue, 3, 144), (.adc, 0, 48), (.pd, 3, 48),
        ] {
            #expect(KM003CPayloadHeader(attribute, chunk: chunk, size: 48).payloadLength == length)
        }
    }

    /// Each field has its bits and no others, in both directions.
    @Test func header_hasItsFieldsInTheirBits() {
        let header = KM003CHeader(.getData, id: 0xA5, parameter: 0x7FFF)
        #expect(header.word == 0xFFFE_A50C)
        #expect(header.kind == .getData && header.id == 0xA5 && header.parameter == 0x7FFF)
        #expect(header.rawWord == 0xFFFE && header.bytes == [0x0C, 0xA5, 0xFE, 0xFF])
        #expect(KM003CHeader(.connect, id: 1, parameter: 0x8000).word == 0x0000_0102)
        #expect(KM003CHeader(.connect, id: 1).word == 0x0000_0102)
        #expect(KM003CHeader(word: 0xFFC0_0041).objectCount == 0x3FF)
        #expect(KM003CHeader(word: 0x0040_0041).objectCount == 1)
        #expect(KM003CHeader(word: 0x003F_FF41).objectCount == 0)
        #expect(KM003CPayloadHeader(.adc, chunk: 64, size: 1024).word == 0x0000_0001)
        #expect(KM003CPayloadHeader(word: 0xFFFF_FFFF).size == 1023)
        #expect(KM003CPayloadHeader(word: 0xFFFF_FFFF).chunk == 63)
        #expect(KM003CPayloadHeader(word: 0xFFFF_FFFF).attribute.rawValue == 0x7FFF)
    }
}
