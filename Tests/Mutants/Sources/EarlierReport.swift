import Foundation

/// What an earlier run's report said of each mutant. Those that survived are tried again, and the others' fates stand.
///
/// A mutant is known by its file, its source line and its change, and its place only decides between two that are alike.
struct EarlierReport {
    private struct Entry {
        var seed: UInt64
        var word: String
        var line: Int
    }

    private var entries: [String: [Entry]] = [:]
    let seeds: [UInt64]

    init(_ file: URL) throws {
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        var found: Set<UInt64> = []
        for (first, pair) in zip(lines, zip(lines.dropFirst(), lines.dropFirst(2))) {
            guard let head = first.wholeMatch(of: #/seed (\d+): (.+)/#), let seed = UInt64(head.1),
                let place = pair.0.wholeMatch(of: #/ +([^ ]+):(\d+): [a-z]+: (.+)/#), let line = Int(place.2)
            else { continue }
            let text = pair.1.trimmingCharacters(in: .whitespaces)
            let name = EquivalentList.name(file: String(place.1), text: text, change: String(place.3))
            entries[name, default: []].append(Entry(seed: seed, word: String(head.2), line: line))
            found.insert(seed)
        }
        guard !found.isEmpty else { throw UsageError("--again: \(file.path) is no report") }
        seeds = found.sorted()
    }

    /// Those of the found ones that it names, each with its seed and whatever noticed it; nil: nothing did.
    func named(among found: [Mutant]) -> [(mutant: Mutant, noticedBy: String?)] {
        var named: [(mutant: Mutant, noticedBy: String?)] = []
        for (name, alike) in Dictionary(grouping: found, by: EquivalentList.name(of:)) {
            var left = alike
            for entry in entries[name] ?? [] {
                guard
                    let nearest = left.indices.min(by: {
                        abs(left[$0].line - entry.line) < abs(left[$1].line - entry.line)
                    })
                else { break }
                var mutant = left.remove(at: nearest)
                mutant.seed = entry.seed
                named.append((mutant, Report.noticer(entry.word)))
            }
        }
        return named.sorted {
            ($0.mutant.file, $0.mutant.line, $0.mutant.change) < ($1.mutant.file, $1.mutant.line, $1.mutant.change)
        }
    }
}
