import Foundation

/// What was asked for on the command line.
struct Options {
    var seeds: [UInt64] = []
    var count = 40
    var targets = Options.pure
    /// Whether survivors of a target's own tests are shown to the tests of the targets above it.
    var above = true
    /// The least share of mutants that must be noticed, in hundredths. Below it the run fails.
    var least = 0
    var list = false
    /// The report of an earlier run: only those that survived then are tried.
    var again: String?
    /// The folder of the copy and its build.
    var work = ".build/mutants"

    /// How many test runs at once.
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    var seedList: String { seeds.map(String.init).joined(separator: ", ") }

    /// The targets, or folders of targets, whose rules decide who may talk to a meter, what it said and which write survives.
    static let pure = [
        "MeterModel", "MeterCodec", "BluetoothCore", "ConnectionCore", "SettingsCore", "LeaseCore", "SyncCore",
        "RecordingCore", "AlertCore", "RelayCore", "HomeAutomationCore", "ImportCore", "LimitCore",
        "SampleCore",
    ]
    /// Those, and what keeps their words: the stores, and the parts of the gateway that drive the machines.
    static let all =
        pure + [
            "CloudStore", "CloudEtcd", "MeterStore", "Gateway/Session", "Gateway/Leases", "Gateway/Sync",
            "Gateway/Samples",
        ]

    static let usage = """
        usage: Tests/Mutants/run [--seed N]... [--count N] [--target NAME]... [--all] [--some N] [--own] [--jobs N] [--least PERCENT] [--again REPORT] [--list] [--work FOLDER]

        Puts small mistakes into a copy of the project, one at a time, and says which of them no test notices.

          --seed N         which mutants are picked (default: 1); more than once for several samples out of one build,
                           of which a later one leaves out what an earlier one has
          --count N        how many with each seed (default: 40)
          --target NAME    the target, or folder of a target (Gateway/Leases), to pick from; repeatable
                           (default: the pure cores and codecs)
          --all            of the stores, the cloud's engines and the gateway too
          --some N         of so many of the targets, which the first seed picks: less to build
          --jobs N         so many test runs at once (default: one for each processor)
          --own            only the target's own tests, not those of the targets above it
          --least PERCENT  fail where fewer are noticed
          --again REPORT   those that this report names instead: what survived then is tried again, the rest stands
          --list           name the mutants that would be picked, and build nothing
          --work FOLDER    where the copy is built; what is there is built further (default: .build/mutants)
        """

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var some: Int?
        var named: [String] = []
        func value(of option: String) throws(UsageError) -> String {
            guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
            return value
        }
        func number<N: FixedWidthInteger>(of option: String) throws(UsageError) -> N {
            let text = try value(of: option)
            guard let number = N(text) else { throw UsageError("\(option): \(text) is not a number") }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--seed": seeds.append(try number(of: option))
            case "--count": count = try number(of: option)
            case "--least": least = try number(of: option)
            case "--target": named.append(try value(of: option))
            case "--work": work = try value(of: option)
            case "--again": again = try value(of: option)
            case "--all": targets = Options.all
            case "--jobs": jobs = try number(of: option)
            case "--some": some = try number(of: option)
            case "--own": above = false
            case "--list": list = true
            default: throw UsageError("\(option) is not known")
            }
        }
        if !named.isEmpty { targets = named }
        if seeds.isEmpty { seeds = [1] }
        guard count > 0, jobs > 0, some.map({ $0 > 0 }) ?? true else {
            throw UsageError("--count, --jobs and --some must be at least 1")
        }
        if let some {
            var random = SeededGenerator(state: seeds[0])
            targets = Array(targets.shuffled(using: &random).prefix(some))
        }
    }
}

struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same picks for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension Options {
    /// Tests that look at the sources themselves, or are about programs and edges and take long.
    static let never: Set<String> = ["ArchitectureTests"]
}
