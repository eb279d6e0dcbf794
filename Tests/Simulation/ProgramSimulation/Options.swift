import SimulatedProgram

/// What the command line asks for.
struct Options: Sendable {
    var first: UInt64 = 1
    var count: UInt64 = 1
    /// Runs at a time, each on one thread.
    var jobs = 1
    var traces = false
    var bug: ProgramBug?
    /// Look whether each planted bug is found, instead of running seeds.
    var huntsBugs = false

    static let usage = """
        usage: ProgramSimulation --seeds N [--from N] [--jobs N] [--bug NAME]   run N seeds, from the first on
               ProgramSimulation --seed N [--trace] [--bug NAME]                run one seed, and print what happened
               ProgramSimulation --planted [--jobs N]                           see that each planted bug is found
        bugs: \(ProgramBug.allCases.map(\.rawValue).joined(separator: ", "))
        """

    /// - Returns: nil where it cannot be read.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": traces = true
            case "--planted": huntsBugs = true
            case "--bug":
                guard let bug = rest.popFirst().flatMap(ProgramBug.init(rawValue:)) else { return nil }
                self.bug = bug
            case "--seed", "--from", "--seeds", "--jobs":
                guard let number = rest.popFirst().flatMap({ UInt64($0) }), number > 0 else { return nil }
                switch option {
                case "--seeds": count = number
                case "--jobs": jobs = Int(clamping: number)
                default: first = number
                }
            default: return nil
            }
        }
    }
}
