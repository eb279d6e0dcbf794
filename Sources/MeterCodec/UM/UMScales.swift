package import Domain

/// Differences between the models (Docs/Protocols/UM.md#block).
package struct UMScales: Sendable {
    /// Steps of the voltage field per volt.
    package let voltage: Double
    /// Steps of the current field per ampere.
    package let current: Double
    /// Highest current that the model measures, in amperes (Docs/Protocols/UM.md#finding-the-block-again).
    let currentMax: Double
    package let trailer: Trailer
    /// Relative error of power and resistance in addition to the steps of voltage and current; 0 for the UM24C and
    /// UM34C, which compute with the values that they send. For the UM25C this is unknown, because no unedited block is
    /// public.
    var productMargin: Double { voltage > 100 ? 0.01 : 0 }

    package enum Trailer: Sendable {
        case constant(UInt8, UInt8)
        /// Byte 128 has an unknown meaning; byte 129 is the XOR of the bytes at `UMScales.xorPositions`.
        case xor
    }

    package static func of(_ model: ModelName) -> UMScales {
        switch model {
        case .um25c: UMScales(voltage: 1000, current: 10_000, currentMax: 5, trailer: .constant(0xFF, 0xF1))
        case .um34c: UMScales(voltage: 100, current: 1000, currentMax: 4, trailer: .xor)
        default: UMScales(voltage: 100, current: 1000, currentMax: 3, trailer: .constant(0xFF, 0xF1))
        }
    }

    /// First words of blocks, which identify the model.
    package static let modelText: [(word: UInt16, model: ModelName)] = [
        (0x0963, .um24c), (0x09C9, .um25c), (0x0D4C, .um34c),
    ]

    package static func model(word: UInt16) -> ModelName? {
        words.firstIndex(of: word).map { modelText[$0].model }
    }

    private static let words = modelText.map(\.word)

    /// Offsets of the bytes that the UM34C's check byte covers (Docs/Protocols/UM.md#block, recomputed on a captured
    /// block).
    static let xorPositions = [
        1, 3, 7, 9, 15, 17, 19, 23, 31, 39, 41, 45, 49, 53, 55, 57, 59, 63, 67, 69, 73, 79, 83, 89, 97, 99, 109, 111,
        113, 119, 121, 127,
    ]

    package static func xorCheck(_ block: UnsafeRawBufferPointer) -> UInt8 {
        xorPositions.reduce(0) { $0 ^ block.u8($1) }
    }
}
