import Foundation

/// Prints a line so that whoever reads through a pipe sees it at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// What became of each mutant.
struct Report {
    private let options: Options
    private var tried: [(mutant: Mutant, fate: MutantRun.Fate)] = []

    init(options: Options) { self.options = options }

    /// Says at once what survived.
    mutating func add(_ mutant: Mutant, _ fate: MutantRun.Fate) {
        tried.append((mutant, fate))
        switch fate {
        case .survived: say("survived  \(Self.line(of: mutant))")
        case .unreached: say("unreached \(Self.line(of: mutant))")
        case .noticed, .endless, .equivalent: break
        }
        if tried.count.isMultiple(of: 20) { say("\(tried.count) tried") }
    }

    static func line(of mutant: Mutant) -> String {
        "\(mutant.file):\(mutant.line): \(mutant.kind.rawValue): \(mutant.change)\n          \(mutant.text)"
    }

    private func noticed(_ fate: MutantRun.Fate) -> Bool? {
        switch fate {
        case .noticed, .endless: true
        case .survived, .unreached: false
        case .equivalent: nil
        }
    }

    /// How many of how many were noticed, without those that change nothing.
    private func score(_ target: String? = nil) -> (noticed: Int, of: Int) {
        let fates = tried.filter { target == nil || $0.mutant.target == target }.compactMap { noticed($0.fate) }
        return (fates.count { $0 }, fates.count)
    }

    var isGood: Bool {
        let (noticed, count) = score()
        return noticed * 100 >= count * options.least
    }

    /// Prints the score, and writes what became of each into the file.
    func write(to file: URL) throws {
        var text = ""
        for (mutant, fate) in tried {
            let word =
                switch fate {
                case .noticed(let test): "noticed by \(test)"
                case .endless: "noticed: the tests did not end"
                case .survived: "SURVIVED"
                case .unreached: "SURVIVED: no test comes by its place"
                case .equivalent(let reason): "equivalent: \(reason)"
                }
            text += "\(word)\n          \(Self.line(of: mutant))\n"
        }
        text += "\n"
        var lines: [String] = []
        for target in options.targets + [nil] as [String?] {
            let (noticed, count) = score(target)
            guard count > 0 else { continue }
            lines.append("\(target ?? "all"): \(noticed) of \(count) noticed, \(noticed * 100 / count) %")
        }
        text += lines.joined(separator: "\n") + "\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
        say(lines.joined(separator: "\n"))
        say("seed \(options.seed); every mutant is in \(file.relativePath)")
        if !isGood { say("fewer than \(options.least) % were noticed") }
    }
}
