package import Cryptography
package import Domain

/// Splits bytes from a TC66 into answers to `getva` and `query`.
///
/// An answer to `getva` is 192 encrypted bytes in three packets, without a start mark. Each packet decrypts to text
/// that starts with `pac1`, `pac2` or `pac3` and ends with a checksum. Packets may arrive in any order except 2-3-1 and
/// 3-1-2, which mix two answers (Docs/Protocols/TC66.md#finding-the-answer-in-a-stream). Packets with contradicting
/// values are from two answers (`TC66Agreement`).
package struct TC66Decoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 4 * TC66Block.length)
    /// Temperature unit set on the meter, used for the next answers, which do not contain it.
    package var temperatureUnit: TemperatureUnit
    private let cipher: ECBCipher
    private let enforcesChecks: Bool
    private var agreement = TC66Agreement()
    private var groups = TC66Groups()

    /// - Parameter enforcesChecks: if false, accepts packets with a wrong checksum, for damaged captures.
    package init(
        temperatureUnit: TemperatureUnit = .celsius, enforcesChecks: Bool = true, cipher: ECBCipher = .tc66
    ) {
        self.temperatureUnit = temperatureUnit
        self.enforcesChecks = enforcesChecks
        self.cipher = cipher
    }

    package mutating func next() -> DecodeStep? {
        if buffer.count >= TC66Block.length {
            switch buffer.withBytes(judge) {
            case .block(var block):
                // Skip only the oldest of the contradicting packets, because the next answer may contain the others.
                if enforcesChecks, !agreement.accepts(block) {
                    return skip(TC66Piece.length, because: .implausibleField(offset: TC66Block.resistanceOffset))
                }
                buffer.take(TC66Block.length)
                groups.note(block)
                block.countingGroup = groups.counting
                return .frame(.tc66(.block(block)))
            case .bad(let count, let error):
                return skip(count, because: error)
            case .noPiece:
                break
            }
        }
        return search()
    }

    /// Restarts the search for the counting group, because another meter may be connected.
    mutating func forgetGroups() { groups = TC66Groups() }

    package mutating func reset() -> Int {
        defer { buffer.removeAll() }
        return buffer.count
    }

    private mutating func skip(_ count: Int, because error: CodecError) -> DecodeStep {
        buffer.drop(count)
        return .skipped(count: count, because: error)
    }

    private mutating func search() -> DecodeStep? {
        let (rubbish, mode) = buffer.withBytes(findStart)
        if rubbish > 0 { return skip(rubbish, because: .noStartMark(found: buffer[0])) }
        guard let mode else { return nil }
        buffer.take(TC66Mode.length)
        return .frame(.tc66(.mode(mode)))
    }

    private enum Verdict {
        case block(TC66Block)
        case bad(count: Int, CodecError)
        case noPiece
    }

    private func judge(_ waiting: UnsafeRawBufferPointer) -> Verdict {
        var plain = InlineArray<192, UInt8>(repeating: 0)
        let decrypted = withUnsafeMutableBytes(of: &plain) {
            cipher.decrypt(UnsafeRawBufferPointer(rebasing: waiting.prefix(TC66Block.length)), into: $0)
        }
        guard decrypted else { return .noPiece }
        return plain.withRawBytes { plain in
            guard let first = Self.piece(0, of: plain) else { return .noPiece }
            guard let second = Self.piece(1, of: plain), let third = Self.piece(2, of: plain),
                first != second, second != third, third != first
            else { return .bad(count: 1, .truncated(have: TC66Piece.length)) }
            switch (first, second) {
            case (.pac3, .pac1): return .bad(count: TC66Piece.length, .truncated(have: TC66Piece.length))
            case (.pac2, .pac3): return .bad(count: 2 * TC66Piece.length, .truncated(have: 2 * TC66Piece.length))
            default: break
            }
            if enforcesChecks, let (place, error) = Self.checkError(plain) {
                // If only the last packet is wrong, the next answer may start within it. So skip only that packet's
                // first byte.
                return .bad(count: place == 2 ? 2 * TC66Piece.length + 1 : TC66Block.length, error)
            }
            return .block(TC66Block(plain, order: [first, second, third], temperatureUnit: temperatureUnit))
        }
    }

    private static func piece(_ place: Int, of plain: UnsafeRawBufferPointer) -> TC66Piece? {
        TC66Piece(beginning: plain.loadUnaligned(fromByteOffset: place * TC66Piece.length, as: UInt64.self))
    }

    private static func checkError(_ plain: UnsafeRawBufferPointer) -> (place: Int, CodecError)? {
        for place in 0..<3 {
            let piece = plain[(place * TC66Piece.length)...].prefix(TC66Piece.length)
            if let error = TC66Piece.checkError(UnsafeRawBufferPointer(rebasing: piece)) { return (place, error) }
        }
        return nil
    }

    /// Returns the number of bytes before the first possible answer, and the mode if it is an answer to `query`. If
    /// neither is found, excludes the last 15 bytes, which cannot be decrypted yet.
    private func findStart(_ waiting: UnsafeRawBufferPointer) -> (rubbish: Int, mode: TC66Mode?) {
        for offset in waiting.indices {
            let rest = UnsafeRawBufferPointer(rebasing: waiting[offset...])
            if let mode = TC66Mode(rest) { return (offset, mode) }
            if let beginning = cipher.beginning(of: rest), TC66Piece(beginning: beginning) != nil {
                return (offset, nil)
            }
        }
        return (max(0, waiting.count - ECBCipher.blockLength + 1), nil)
    }
}
