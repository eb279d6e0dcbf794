import Domain
import Foundation

/// One line of a trace of a model (Tests/Models/README.md): a word, names with their numbers, and after the colon its answer.
struct ModelLine {
    let text: String
    let word: String
    /// All of them, in order.
    let numbers: [UInt64]
    private let values: [String: UInt64]

    init(_ text: String) {
        self.text = text
        let words = text.replacing(":", with: " answer").split(separator: " ").map(String.init)
        word = words.first ?? ""
        numbers = words.compactMap(UInt64.init)
        values = Dictionary(
            zip(words, words.dropFirst()).compactMap { name, value in UInt64(value).map { (name, $0) } },
            uniquingKeysWith: { _, last in last })
    }

    subscript(_ name: String) -> UInt64? { values[name] }

    static func lines(of name: String) throws -> [(number: Int, line: ModelLine)] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: tests.appending(path: "Models/Traces/\(name).txt"), encoding: .utf8)
        return text.split(separator: "\n").enumerated().map { ($0.offset + 1, ModelLine(String($0.element))) }
    }
}

extension UniqueID {
    /// The id of a model's host, run or request.
    static func numbered(_ number: UInt64) -> Self { Self(high: 0x4000, low: number) }
}
