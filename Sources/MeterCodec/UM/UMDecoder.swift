package import Domain

/// Splits bytes from a UM meter into blocks.
///
/// A block starts with a model word and ends with a trailer (Docs/Protocols/UM.md#finding-the-block-again). The trailer
/// is a weak check, so values must also be plausible (`UMPlausibility`) and agree (`UMAgreement`).
///
/// A decoder accepts only one model, because after lost bytes a counter may look like another model's word. It accepts
/// the expected model from the first block on. Users may configure the wrong model, so it accepts another model after
/// two of its blocks in a row.
package struct UMDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: 4 * UMBlock.length)
    private let enforcesTrailer: Bool
    private let expected: ModelName?
    private var lastModel: ModelName?
    private var heldModel: ModelName?
    private var score = UMAgreementScore()

    /// - Parameters:
    ///   - enforcesTrailer: if false, accepts wrong trailers and disagreeing values, for edited captures.
    ///   - expected: model of this link; nil accepts any mixture of models.
    package init(enforcesTrailer: Bool = true, expecting expected: ModelName? = nil) {
        self.enforcesTrailer = enforcesTrailer
        self.expected = expected
    }

    package mutating func next() -> DecodeStep? {
        let (rubbish, found) = findModelWord()
        if rubbish > 0 {
            let error: CodecError = rubbish > 1 ? .unknownModel(word: firstWord) : .noStartMark(found: buffer[0])
            buffer.drop(rubbish)
            return .skipped(count: rubbish, because: error)
        }
        guard let model = found, buffer.count >= UMBlock.length else { return nil }
        if let error = buffer.withBytes({ trailerError($0, model: model) ?? UMPlausibility.error($0, model: model) }) {
            score.noteRubbish()
            return refuse(error)
        }
        if enforcesTrailer {
            let error = buffer.withBytes { UMAgreement.error($0, model: model) }
            let isAskedFor = score.isAskedFor
            score.note(error)
            if let error, isAskedFor { return refuse(error) }
        }
        let block = buffer.withBytes {
            UMBlock(UnsafeRawBufferPointer(rebasing: $0.prefix(UMBlock.length)), model: model)
        }
        buffer.take(UMBlock.length)
        hold(to: model)
        return .frame(.um(block))
    }

    private mutating func refuse(_ error: CodecError) -> DecodeStep {
        buffer.drop(1)
        return .skipped(count: 1, because: error)
    }

    private mutating func hold(to model: ModelName) {
        if let expected, model == expected || model == lastModel { heldModel = model }
        lastModel = model
    }

    private var firstWord: UInt32 { buffer.withBytes { UInt32($0.u16BE(0)) } }

    /// Returns the number of bytes before the first model word, except a last byte that may begin one, and the model.
    private func findModelWord() -> (rubbish: Int, model: ModelName?) {
        buffer.withBytes { bytes in
            var offset = 0
            while offset + 1 < bytes.count {
                if let model = UMScales.model(word: bytes.u16BE(offset)), isHeld(model) { return (offset, model) }
                offset += 1
            }
            if offset < bytes.count {
                let last = bytes.u8(offset)
                let mayOpen = UMScales.modelText.contains { UInt8($0.word >> 8) == last && isHeld($0.model) }
                if !mayOpen { offset += 1 }
            }
            return (offset, nil)
        }
    }

    private func isHeld(_ model: ModelName) -> Bool { heldModel == nil || heldModel == model }

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
