import Foundation

/// Prints a line so that whoever reads through a pipe sees it at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// What became of each mutant.
struct Report {
    private let options: Options
    private let file: URL
    private var tried: [(mutant: Mutant, fate: MutantRun.Fate)] = []

    /// - Parameter file: where what became of each is written.
    init(options: Options, file: URL) {
        self.options = options
        self.file = file
    }

    /// What an earlier run found.
    mutating func keep(_ mutant: Mutant, _ fate: MutantRun.Fate) { tried.append((mutant, fate)) }

    /// Says at once what survived.
    mutating func add(_ mutant: Mutant, _ fate: MutantRun.Fate) {
        tried.append((mutant, fate))
        switch fate {
        case .survived: say("survived  \(Self.line(of: mutant))")
        case .unreached: say("unreached \(Self.line(of: mutant))")
        case .noticed, .endless, .equivalent: break
        }
        guard tried.count.isMultiple(of: 20) else { return }
        // So that a long run that is ended loses little.
        try? write()
        say("\(tried.count) tried")
    }

    static func line(of mutant: Mutant) -> String {
        "\(mutant.file):\(mutant.line): \(mutant.kind.rawValue): \(mutant.change)\n          \(mutant.text)"
    }

    private static let endless = "tests that did not end"
    private static func noticedWord(by test: String) -> String { "noticed by \(test)" }
    /// What noticed it, by the word of a report; nil: nothing did.
    static func noticer(_ word: String) -> String? {
        word.wholeMatch(of: #/noticed by (.+)/#).map { String($0.1) }
    }

    private func noticed(_ fate: MutantRun.Fate) -> Bool? {
        switch fate {
        case .noticed, .endless: true
        case .survived, .unreached: false
        case .equivalent: nil
        }
    }

    /// How many of how many were noticed, without those that change nothing.
    private func score(
        where counts: (Mutant) -> Bool = { _ in true }
    ) -> (noticed: Int, of: Int) {
        let fates = tried.filter { counts($0.mutant) }.compactMap { noticed($0.fate) }
        return (fates.count { $0 }, fates.count)
    }

    /// A line for each target, and one for all.
    private var scores: [String] {
        var lines: [String] = []
        func add(_ name: String, _ score: (noticed: Int, of: Int)) {
            guard score.of > 0 else { return }
            lines.append("\(name): \(score.noticed) of \(score.of) noticed, \(score.noticed * 100 / score.of) %")
        }
        for target in options.targets { add(target, score { $0.target == target }) }
        if options.seeds.count > 1 {
            for seed in options.seeds { add("seed \(seed)", score { $0.seed == seed }) }
        }
        add("all", score())
        return lines
    }

    var isGood: Bool {
        let (noticed, count) = score()
        return noticed * 100 >= count * options.least
    }

    /// Prints the scores, and writes the file.
    func end() throws {
        try write()
        say(scores.joined(separator: "\n"))
        say("seed \(options.seedList); every mutant is in \(file.relativePath)")
        if !isGood { say("fewer than \(options.least) % were noticed") }
    }

    /// Writes what became of each that was tried into the file.
    private func write() throws {
        var text = ""
        for (mutant, fate) in tried {
            let word =
                switch fate {
                case .noticed(let test): Self.noticedWord(by: test)
                case .endless: Self.noticedWord(by: Self.endless)
                case .survived: "SURVIVED"
                case .unreached: "SURVIVED: no test comes by its place"
                case .equivalent(let reason): "equivalent: \(reason)"
                }
            text += "seed \(mutant.seed): \(word)\n          \(Self.line(of: mutant))\n"
        }
        text += "\n\(scores.joined(separator: "\n"))\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
