import Foundation

/// Mutants of which somebody found that they change nothing that anybody could see, each with the reason.
///
/// A mutant is a line of the file: its file, its source line and its change, each with ` | ` between, and after them the
/// reason. Not its number or place, which other changes move.
struct EquivalentList {
    private var reasons: [String: String] = [:]

    init(_ file: URL) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.components(separatedBy: " | ")
            guard parts.count >= 4, let reason = parts.last else {
                throw UsageError("\(file.lastPathComponent): \(line): a line is FILE | LINE | CHANGE | REASON")
            }
            reasons[parts.dropLast().joined(separator: " | ")] = reason
        }
    }

    func reason(of mutant: Mutant) -> String? { reasons[Self.name(of: mutant)] }

    static func name(of mutant: Mutant) -> String {
        name(file: mutant.file, text: mutant.text, change: mutant.change)
    }

    static func name(file: String, text: String, change: String) -> String { "\(file) | \(text) | \(change)" }
}
