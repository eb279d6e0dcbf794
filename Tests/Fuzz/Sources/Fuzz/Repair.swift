import Cryptography
import Domain
import MeterCodec

/// Puts check sums right, so that the fuzzer reaches what lies behind them. Every other byte stays as it is.
enum Repair {
    /// Walks over the places where something may begin. `fix` works on the bytes from one on and says how far it got.
    private static func walk(_ stream: [UInt8], _ fix: (inout ArraySlice<UInt8>) -> Int) -> [UInt8] {
        var stream = stream
        var start = 0
        while start < stream.count {
            start += max(1, fix(&stream[start...]))
        }
        return stream
    }

    static func um(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            let start = rest.startIndex
            guard rest.count >= UMBlock.length,
                let model = UMScales.model(word: UInt16(rest[start]) << 8 | UInt16(rest[start + 1]))
            else { return 1 }
            switch UMScales.of(model).trailer {
            case .constant(let first, let second):
                rest[start + 128] = first
                rest[start + 129] = second
            case .xor:
                rest[start + 129] = rest.prefix(UMBlock.length).withUnsafeBytes(UMScales.xorCheck)
            }
            return UMBlock.length
        }
    }

    static func fl001(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            guard rest.count >= FL001Report.length, rest.starts(with: FL001Report.mark) else { return 1 }
            let place = rest.startIndex + FL001Report.checkOffset
            let check = Checksum.crc16Modbus(rest.prefix(FL001Report.checkOffset))
            (rest[place], rest[place + 1]) = (UInt8(truncatingIfNeeded: check), UInt8(truncatingIfNeeded: check >> 8))
            return FL001Report.length
        }
    }

    /// Takes plain text: seals each 64 bytes and encrypts the whole.
    static func tc66(_ plain: [UInt8]) -> [UInt8] {
        let length = TC66Piece.length
        var plain = plain
        for start in stride(from: 0, through: plain.count - length, by: length) {
            let check = Checksum.crc16Modbus(plain[start..<start + TC66Piece.checkOffset])
            let word: [UInt8] = [UInt8(truncatingIfNeeded: check), UInt8(truncatingIfNeeded: check >> 8), 0, 0]
            plain.replaceSubrange(start + TC66Piece.checkOffset..<start + length, with: word)
        }
        let whole = plain.count / ECBCipher.blockLength * ECBCipher.blockLength
        return (ECBCipher.tc66.encrypt(Array(plain[..<whole])) ?? []) + plain[whole...]
    }

    /// Puts the XOR right at the end of each line that has a `*`.
    static func lines(_ stream: [UInt8]) -> [UInt8] {
        let lines = stream.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            guard let star = line.lastIndex(of: UInt8(ascii: "*")) else { return Array(line) }
            let body = line[..<star].drop { $0 == 0x20 || $0 == 0x09 }
            let digits = String(body.reduce(0, ^), radix: 16)
            return line[...star] + Array((digits.count < 2 ? "0" : "").utf8) + Array(digits.utf8)
        }
        return Array(lines.joined(separator: [0x0A]))
    }

    static func fnirsiUSB(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            guard rest.first == FNIRSIUSBPacket.startMark, rest.count >= FNIRSIUSBPacket.length else { return 1 }
            let packet = rest.prefix(FNIRSIUSBPacket.length)
            rest[rest.startIndex + FNIRSIUSBPacket.length - 1] = packet.withUnsafeBytes { FNIRSIUSBPacket.check($0) }
            return FNIRSIUSBPacket.length
        }
    }

    static func fnirsiBLE(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            let start = rest.startIndex
            guard rest.first == FNIRSIBLEFrame.startMark, rest.count >= 3 else { return 1 }
            let length = Int(rest[start + 2]) + FNIRSIBLEFrame.overhead
            guard rest.count >= length else { return 1 }
            rest[start + length - 1] = FNIRSIBLEFrame.check(rest.prefix(length - 1))
            return length
        }
    }

    static func atorch(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            guard rest.starts(with: [0xFF, 0x55, 0x01]), rest.count >= AtorchReport.length else { return 1 }
            let report = rest.prefix(AtorchReport.length)
            rest[rest.startIndex + AtorchReport.length - 1] = report.withUnsafeBytes { AtorchCheck.byte(ofMessage: $0) }
            return AtorchReport.length
        }
    }

    static func witrn(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            guard rest.starts(with: [0xFF, 0x55]), rest.count >= WITRNReport.length else { return 1 }
            let checks = rest.prefix(WITRNReport.length).withUnsafeBytes { WITRNReport.checks($0) }
            rest[rest.startIndex + 62] = checks.payload
            rest[rest.startIndex + 63] = checks.whole
            return WITRNReport.length
        }
    }

    static func ct3(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            let start = rest.startIndex
            guard rest.first == CT3Framing.startMark, rest.count >= CT3Framing.headerLength else { return 1 }
            let length = rest.withUnsafeBytes { $0.u32LE(1) }
            guard CT3Framing.payloadLengths.contains(Int(length)) else { return 1 }
            let whole = Int(length) + CT3Framing.overhead
            guard rest.count >= whole else { return 1 }
            rest[start + whole - 2] = rest[(start + CT3Framing.headerLength)..<(start + whole - 2)].reduce(0, ^)
            rest[start + whole - 1] = CT3Framing.endMark
            return whole
        }
    }

    static func zy1280(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            guard rest.starts(with: ZY1280Report.mark), rest.count >= ZY1280Report.length else { return 1 }
            let report = rest.prefix(ZY1280Report.length)
            rest[rest.startIndex + ZY1280Report.length - 1] = report.withUnsafeBytes { ZY1280Report.check($0) }
            return ZY1280Report.length
        }
    }

    /// Memory answers, and settings that come alone.
    static func km003c(_ stream: [UInt8]) -> [UInt8] {
        walk(stream) { rest in
            let start = rest.startIndex
            if rest.first == KM003CKind.memoryAnswer.rawValue, rest.count >= KM003CMemoryRange.answerLength {
                put(Checksum.crc32(rest[start + 4..<start + 16]), into: &rest, at: start + 16)
                return KM003CMemoryRange.answerLength
            }
            let payload = start + KM003CHeader.length + KM003CPayloadHeader.length
            guard rest.first == KM003CKind.data.rawValue, rest.endIndex >= payload + KM003CSettings.length,
                rest[start + 4] == 0x08, rest[start + 5] == 0
            else { return 1 }
            for (range, offset) in KM003CSettings.checks {
                let check = Checksum.crc32(rest[payload + range.lowerBound..<payload + range.upperBound])
                put(check, into: &rest, at: payload + offset)
            }
            return payload + KM003CSettings.length - start
        }
    }

    private static func put(_ word: UInt32, into bytes: inout ArraySlice<UInt8>, at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
    }
}
