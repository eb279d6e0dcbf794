import MeterModel

/// Cuts a UM meter's bytes into blocks.
///
/// A block has neither length nor start mark: it begins with a word that names the model, and ends in a trailer that
/// proves it (protocols.md 1.4). Whatever does not fit is passed over byte by byte until a model word comes.
package struct UMDecoder: FrameDecoder {
    private var buffer = ReceiveBuffer(capacity: 4 * UMBlock.length)
    private let enforcesTrailer: Bool

    /// - Parameter enforcesTrailer: false takes blocks whose trailer is wrong too, for looking at edited captures.
    package init(enforcesTrailer: Bool = true) {
        self.enforcesTrailer = enforcesTrailer
    }

    package mutating func append(_ bytes: [UInt8]) {
        buffer.append(bytes)
    }

    package mutating func next() -> DecodeStep? {
        let (rubbish, found) = findModelWord()
        if rubbish > 0 {
            let error: CodecError = rubbish > 1 ? .unknownModel(word: firstWord) : .noStartMark(found: buffer[0])
            buffer.drop(rubbish)
            return .skipped(count: rubbish, because: error)
        }
        guard let model = found, buffer.count >= UMBlock.length else { return nil }
        if let error = buffer.withBytes({ trailerError($0, model: model) }) {
            buffer.drop(1)
            return .skipped(count: 1, because: error)
        }
        let block = buffer.withBytes {
            UMBlock(UnsafeRawBufferPointer(rebasing: $0.prefix(UMBlock.length)), model: model)
        }
        buffer.take(UMBlock.length)
        return .frame(.um(block))
    }

    package var frameBytes: [UInt8] { buffer.lastTaken }
    package var pendingCount: Int { buffer.count }

    package mutating func reset() -> Int {
        defer { buffer.removeAll() }
        return buffer.count
    }

    private var firstWord: UInt32 { buffer.withBytes { UInt32($0.u16BE(0)) } }

    /// How many bytes lie before the first model word, and the model it names. A last byte that may be the first half
    /// of a model word is left to wait.
    private func findModelWord() -> (rubbish: Int, model: ModelName?) {
        buffer.withBytes { bytes in
            var offset = 0
            while offset + 1 < bytes.count {
                if let model = UMScales.model(word: bytes.u16BE(offset)) { return (offset, model) }
                offset += 1
            }
            if offset < bytes.count, !UMScales.modelWords.contains(where: { UInt8($0.word >> 8) == bytes.u8(offset) }) {
                offset += 1
            }
            return (offset, nil)
        }
    }

    private func trailerError(_ bytes: UnsafeRawBufferPointer, model: ModelName) -> CodecError? {
        guard enforcesTrailer else { return nil }
        switch UMScales.of(model).trailer {
        case .constant(let first, let second):
            let expected = UInt32(first) << 8 | UInt32(second)
            let found = UInt32(bytes.u16BE(128))
            return found == expected ? nil : .wrongCheck(expected: expected, found: found)
        case .xor:
            let expected = UMScales.xorCheck(bytes)
            let found = bytes.u8(129)
            return found == expected ? nil : .wrongCheck(expected: UInt32(expected), found: UInt32(found))
        }
    }
}
