package import Cryptography
package import Domain

/// Readable places in a meter's memory. Other reads can crash the meter (Docs/Protocols/KM003C.md#logs).
package enum KM003CMemory: Hashable, Sendable {
    /// Model, hardware version and its date.
    case hardware
    /// Model, firmware version and its date.
    case firmware
    /// Serial number and unique id.
    case serial
    /// The processor's own ID, for the authentication.
    case hardwareID
    case log(KM003CLogRange)

    package var address: UInt32 {
        switch self {
        case .hardware: 0x0000_0420
        case .firmware: 0x0000_4420
        case .serial: 0x0300_0C00
        case .hardwareID: 0x4001_0450
        case .log(let range): Self.logs + range.offset
        }
    }

    /// Size in bytes, as in the vendor's program.
    package var size: UInt32 {
        switch self {
        case .hardware, .firmware, .serial: 64
        case .hardwareID: 12
        case .log(let range): range.size
        }
    }

    package static let logs: UInt32 = 0x9810_0000

    /// Pause between two reads, as in other programs (Docs/Protocols/KM003C.md#logs).
    package static let pause = Duration.milliseconds(50)

    package func request(id: UInt8) -> [UInt8] {
        let plain = Self.range(address: address, size: size) + [UInt8](repeating: 0xFF, count: 16)
        return [KM003CKind.memoryRead.rawValue, id, 0x01, 0x01] + (ECBCipher.km003cMemory.encrypt(plain) ?? [])
    }

    /// Returns address, size, filler and their CRC-32, which requests contain encrypted.
    package static func range(address: UInt32, size: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(address)
        bytes.appendLE(size)
        bytes += [0xFF, 0xFF, 0xFF, 0xFF]
        bytes.appendLE(Checksum.crc32(bytes))
        return bytes
    }
}

package struct KM003CLogRange: Hashable, Sendable {
    /// Offset from the start of the logs, in bytes.
    package let offset: UInt32
    package let size: UInt32

    /// Assumed end of the logs' memory: 16 MB is far above any log that an entry can count. The real size is
    /// unpublished.
    package static let end: UInt32 = 0x0100_0000

    /// Nil for a range that is empty or extends beyond `end`.
    package init?(offset: UInt32, sampleCount: Int) {
        guard (1...Int(UInt16.max)).contains(sampleCount), offset < Self.end else { return nil }
        let size = UInt32(sampleCount * KM003CLogSample.length)
        guard size <= Self.end - offset else { return nil }
        self.offset = offset
        self.size = size
    }
}

extension ECBCipher {
    /// Cipher for memory contents and for memory requests (Docs/Protocols/KM003C.md#logs).
    package static let km003cMemory = ECBCipher(fixedKey: Array("Lh2yfB7n6X7d9a5Z".utf8))
    /// Cipher of the host's authentication request (`KM003CProof`).
    package static let km003cProof = ECBCipher(fixedKey: Array("Fa0b4tA25f4R038a".utf8))
    /// Cipher of the meter's answer to the authentication request.
    package static let km003cGrant = ECBCipher(fixedKey: Array("FX0b4tA25f4R038a".utf8))
}

/// The host's authentication for access to the meter's queue and logs (Docs/Protocols/KM003C.md#logs). Requests only
/// the first level, for reading, never the second, for calibration.
package enum KM003CProof {
    package static let hardwareIDLength = 12

    /// - Parameter hardwareID: 12 bytes; missing bytes count as zero.
    package static func request(id: UInt8, hardwareID: [UInt8]) -> [UInt8] {
        let own = Array((hardwareID + [UInt8](repeating: 0, count: hardwareIDLength)).prefix(hardwareIDLength))
        let plain = [UInt8](repeating: 0, count: 8) + own + [UInt8](repeating: 0, count: 12)
        return [KM003CKind.streamingAuth.rawValue, id, 0x00, 0x02] + (ECBCipher.km003cProof.encrypt(plain) ?? [])
    }

    /// Raw words of answers (okhsunrog/km003c-rs; jfessard/km003c-web, tests). From a KM003C, 0201 refuses, 0203 and
    /// 0205 grant the first and second level. From a KM002C, 0202 refuses and 0204 grants the first level.
    package static let answers: Set<UInt16> = [0x0201, 0x0202, 0x0203, 0x0204, 0x0205]

    /// Returns the level that an answer grants: 0 for none, 1 for reading, 2 for more than requested.
    ///
    /// - Parameter rawWord: upper half of the header. If its lowest bit is set, the level is in the two bits above.
    ///   Otherwise the word is a KM002C's, with the level one bit higher; from a KM003C it means a refusal.
    package static func level(rawWord: UInt16, model: ModelName) -> Int {
        if rawWord & 1 == 1 { return Int(rawWord >> 1 & 3) }
        return model == .km002c ? Int(rawWord >> 2 & 3) : 0
    }
}
