/// One thing that takes bytes from outside, and how to try it.
struct FuzzTarget: Sendable {
    let name: String
    /// Tries one input. Returns when all promises held; traps when one was broken, which libFuzzer records.
    let run: @Sendable ([UInt8]) -> Void
    /// Inputs to start from.
    let seeds: @Sendable () -> [[UInt8]]

    static let all =
        DecoderTarget.all.map(\.target)
        + [
            identify, download, glitches, power, chunks, replay, text, json, management, advertising, att, gatt, sdp,
            esphome, esphomeMeter, announced, smartPlug, formula,
        ]

    /// What the command line names.
    static let selected = all.first { $0.name == CommandLine.arguments.dropFirst().first }
}

/// Stops the program unless a promise held. Unlike `precondition` it says so in an optimised build, too.
func promise(_ isKept: Bool, _ words: @autoclosure () -> String) {
    if !isKept { fatalError("broken promise: \(words())") }
}

extension FuzzTarget {
    /// The first byte of a decoder's input, which says how it is tried.
    struct Mode {
        /// The stream is also fed in pieces of so many bytes, 1 to 64.
        var pieceLength: Int
        /// The check sums are put right first, so that what lies behind them is reached.
        var repairs: Bool
        /// The decoder is told to take wrong check sums.
        var isUnchecked: Bool

        init(_ byte: UInt8) {
            pieceLength = Int(byte & 0x3F) + 1
            repairs = byte & 0x40 != 0
            isUnchecked = byte & 0x80 != 0
        }
    }
}
