import Domain
import MeterCodec
import MeterSimulator
import Testing

/// Messages of every length, in chunks: whole if each of them came in its turn, once or several times, and never otherwise.
struct PDChunksTests {
    /// A chunk as a partner sends it (USB PD specification 3.1, 6.2.1.1 and 6.2.1.2): a header with the number of objects,
    /// the header of an extended message, at most 26 bytes of data, filled up with zeros.
    private func chunk(_ number: Int, of data: [UInt8], type: UInt16) -> PDMessage {
        let part = data.dropFirst(26 * number).prefix(26)
        let objects = UInt16((2 + part.count + 3) / 4)
        let header = 0x8000 | objects << 12 | UInt16(number & 7) << 9 | 0x0180 | type
        let extended = 0x8000 | UInt16(number) << 11 | UInt16(data.count)
        var bytes = [header, extended].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        bytes += part
        while (bytes.count - 2) % 4 != 0 { bytes.append(0) }
        return PDMessage(bytes: bytes)
    }

    private func chunks(of data: [UInt8], type: UInt16 = 0x11) -> [PDMessage] {
        (0..<(data.count + 25) / 26).map { chunk($0, of: data, type: type) }
    }

    private func data(_ length: Int) -> [UInt8] {
        var noise = SplitMix64(seed: UInt64(length))
        return noise.bytes(length)
    }

    @Test func messageOfAnyLength_isWholeWithItsLastChunk() {
        var whole = PDChunks()
        for length in 1...260 {
            let data = data(length)
            let parts = chunks(of: data)
            for (place, part) in parts.enumerated() {
                #expect(whole.add(part) == (place == parts.count - 1 ? data : nil), "\(length) bytes, chunk \(place)")
                if place < parts.count - 1 { #expect(whole.add(part) == nil, "\(length) bytes, chunk \(place) again") }
            }
        }
    }

    /// Whatever is amiss with one of three chunks, the next message is whole.
    @Test func chunkThatIsMissed_orOfAnotherMessage_spoilsThisOneOnly() {
        let (data, other, longer) = (data(70), data(71), data(72))
        let good = chunks(of: data)
        var spoiled: [[PDMessage]] = []
        for place in good.indices {
            var missed = good
            missed.remove(at: place)
            spoiled.append(missed)
            // Of another type, and of another length.
            for strange in [chunks(of: data, type: 0x12)[place], chunks(of: other)[place]] {
                var parts = good
                parts[place] = strange
                #expect(parts != good)
                spoiled.append(parts)
            }
        }
        spoiled += [[good[0], good[2], good[1]], [good[1], good[2]], [good[0], good[1], good[0], good[2]]]
        for parts in spoiled {
            var whole = PDChunks()
            for part in parts { #expect(whole.add(part) == nil) }
            #expect(chunks(of: longer).compactMap { whole.add($0) } == [longer])
        }
    }

    @Test func requestForAChunk_andWhatIsNoExtendedMessage_changeNothing() throws {
        let data = data(70)
        var whole = PDChunks()
        var found: [[UInt8]] = []
        for part in chunks(of: data) {
            found += try [part, message("919a008c0000"), message("4102"), message("")].compactMap { whole.add($0) }
        }
        #expect(found == [data])
    }

    /// The last chunk holds less than the header says, and a middle one too.
    @Test func chunkThatIsTooShort_makesNoMessage() {
        let data = data(70)
        let good = chunks(of: data)
        for place in good.indices {
            var parts = good
            parts[place] = PDMessage(bytes: Array(good[place].bytes.prefix(10)))
            var whole = PDChunks()
            for part in parts { #expect(whole.add(part) == nil, "chunk \(place)") }
            #expect(chunks(of: data).compactMap { whole.add($0) } == [data])
        }
    }

    private func message(_ text: String) throws -> PDMessage { PDMessage(bytes: try hex(text)) }
}
