import Foundation
import Synchronization

/// Builds mutants into the copy and lets the tests find them.
struct MutantRun {
    let copy: WorkingCopy
    let options: Options

    enum Fate: Sendable {
        /// Tests failed: the own ones, or those of targets above.
        case noticed(by: String)
        /// Tests did not end.
        case endless
        case survived
        /// No test comes by its place.
        case unreached
        /// Listed as one that changes nothing that anybody could see.
        case equivalent(String)
    }

    // MARK: Picking

    /// All that there are.
    func found() throws -> [Mutant] { try options.targets.flatMap { try found(in: $0) } }

    private func found(in target: String) throws -> [Mutant] {
        try copy.sources(of: target).flatMap { file in
            MutantFinder(target: target, file: file, source: try copy.source(file)).found
        }
    }

    /// For each seed as many of each target, and of the kinds of mistake within it, as can be. Further ones stand by
    /// for those that the compiler refuses.
    func pick() throws -> [Mutant] {
        var picked: [Mutant] = []
        for seed in options.seeds { try pick(seed, into: &picked) }
        return picked
    }

    private func pick(_ seed: UInt64, into picked: inout [Mutant]) throws {
        var random = SeededGenerator(state: seed)
        var piles: [[Mutant]] = []
        for target in options.targets {
            let found = try found(in: target)
            // One of each kind in turn.
            var kinds = Mutant.Kind.allCases.map { kind in found.filter { $0.kind == kind }.shuffled(using: &random) }
            var pile: [Mutant] = []
            while kinds.contains(where: { !$0.isEmpty }) {
                for place in kinds.indices.shuffled(using: &random) {
                    pile += kinds[place].popLast().map { [$0] } ?? []
                }
            }
            piles.append(pile.reversed())
        }
        let wanted = picked.count + options.count + options.count / 3 + 4
        while picked.count < wanted, piles.contains(where: { !$0.isEmpty }) {
            for place in piles.indices where picked.count < wanted {
                while var next = piles[place].popLast() {
                    guard !picked.contains(where: { $0.overlaps(next) }) else { continue }
                    next.seed = seed
                    picked.append(next)
                    break
                }
            }
        }
    }

    /// Without those that only stand by.
    func counted(of mutants: [Mutant]) -> [Mutant] {
        options.seeds.flatMap { seed in mutants.filter { $0.seed == seed }.prefix(options.count) }
    }

    // MARK: Building

    /// - Parameter tests: the only tests that are built, with the mutants and whatever else they stand on.
    /// - Returns: those that compile, in the order in which they were picked.
    func build(_ picked: [Mutant], with tests: Set<String>) throws -> [Mutant] {
        var mutants = picked
        for place in mutants.indices { mutants[place].id = place + 1 }
        for _ in 0..<12 {
            let places = try copy.build(in: mutants, of: options.targets)
            let (status, output, _) = try Shell.run(
                ["swift", "build", "--build-tests"], in: copy.folder,
                environment: ["ONLY_SUITE": tests.sorted().joined(separator: ",")])
            if status == 0 { return mutants }
            let errors = Self.errors(output, in: copy.folder)
            guard !errors.isEmpty else { throw Shell.Failed(description: String(output.suffix(4000))) }
            var refused: Set<Int> = []
            for error in errors {
                let here = places.filter { $0.value.file == error.file }
                // An error about a variable that is used before it is set is reported at the use, not at the mutant.
                let distance = { (lines: ClosedRange<Int>) in
                    max(lines.lowerBound - error.line, error.line - lines.upperBound, 0)
                }
                let nearest = here.values.map { distance($0.lines) }.min()
                refused.formUnion(here.filter { distance($0.value.lines) == nearest }.keys)
            }
            guard !refused.isEmpty else { throw Shell.Failed(description: String(output.suffix(4000))) }
            mutants.removeAll { refused.contains($0.id) }
        }
        throw Shell.Failed(description: "there are always more mutants that do not compile")
    }

    private static func errors(_ output: String, in folder: URL) -> [(file: String, line: Int)] {
        output.split(separator: "\n").compactMap { line in
            guard let found = line.firstMatch(of: #/^(/[^:]+):(\d+):\d+: error: /#), let number = Int(found.2) else {
                return nil
            }
            // The compiler may know the folder by another name.
            guard let start = found.1.range(of: "/Sources/") else { return nil }
            return ("Sources/" + found.1[start.upperBound...], number)
        }
    }

    // MARK: Testing

    /// What one suite shows with nothing changed.
    private struct Seen: Sendable {
        /// What it takes of a processor, in seconds.
        var time: Double
        /// Which mutants' places it comes by.
        var reached: Set<Int>
    }

    /// The tests that a mutant is shown to.
    private struct Showing: Sendable {
        let suites: [Suite]
        /// What they may take of a processor, in seconds.
        let limit: Double
    }

    /// Runs each suite of these tests with nothing changed. All must pass.
    private func look(_ tests: Set<String>, for mutants: [Mutant]) throws -> [Suite: Seen] {
        let suites = try suites(of: tests)
        let map = ReachMap(folder: copy.folder, count: (mutants.map(\.id).max() ?? 0) + 1)
        let seen = Mutex<[Suite: Seen]>([:])
        try inParallel(suites) { suite in
            let file = try map.file(for: suite)
            let ended = try run([suite], environment: ["MUTANTS_REACHED": file.path], limit: nil, enough: nil)
            guard ended.status == 0 else {
                throw Shell.Failed(
                    description: "\(suite) fails with no mutant in force:\n\(ended.output.suffix(3000))")
            }
            let reached = try map.read(file)
            seen.withLock { $0[suite] = Seen(time: ended.time, reached: reached) }
        }
        return seen.withLock { $0 }
    }

    /// Tries every mutant, `options.jobs` at a time, with the suites that come by its place.
    ///
    /// - Parameters:
    ///   - tests: the groups of tests that the mutants of each target are shown to, one group after the other.
    ///   - found: called with each mutant's fate, in no order, one at a time.
    func tryAll(_ mutants: [Mutant], with tests: [String: [[String]]], found: (Mutant, Fate) -> Void) throws {
        let seen = try look(Set(tests.values.joined().joined()), for: mutants)
        say("\(seen.count) suites pass with no mutant in force")

        let report = Mutex(())
        let run = self
        try withoutActuallyEscaping(found) { found in
            nonisolated(unsafe) let found = found
            try inParallel(mutants) { mutant in
                let showings = (tests[mutant.target] ?? []).flatMap { group in
                    Self.showings(
                        seen.filter { group.contains($0.key.target) && $0.value.reached.contains(mutant.id) })
                }
                let fate = try run.fate(of: mutant, showings: showings)
                report.withLock { _ in found(mutant, fate) }
            }
        }
    }

    /// Two runs: first, for some seconds, the suites that come by the fewest mutants, as those are about the mutant's own
    /// place; then all others.
    private static func showings(_ seen: [Suite: Seen]) -> [Showing] {
        let ordered = seen.sorted { ($0.value.reached.count, $0.value.time) < ($1.value.reached.count, $1.value.time) }
        var time = 0.0
        let first = ordered.prefix { suite in
            defer { time += suite.value.time }
            return time < firstSeconds
        }
        return [first, ordered.dropFirst(first.count)].filter { !$0.isEmpty }.map { suites in
            Showing(suites: suites.map(\.key), limit: 3 * suites.reduce(0) { $0 + $1.value.time } + 10)
        }
    }

    private static let firstSeconds = 5.0

    /// Does it for each of them, `options.jobs` at a time, until one throws.
    private func inParallel<Item: Sendable>(_ items: [Item], do work: (Item) throws -> Void) throws {
        let progress = Mutex<(next: Int, failure: (any Error)?)>((0, nil))
        withoutActuallyEscaping(work) { work in
            nonisolated(unsafe) let work = work
            DispatchQueue.concurrentPerform(iterations: options.jobs) { _ in
                while let item = progress.withLock({ progress -> Item? in
                    guard progress.failure == nil, progress.next < items.count else { return nil }
                    progress.next += 1
                    return items[progress.next - 1]
                }) {
                    do { try work(item) } catch { progress.withLock { $0.failure = error } }
                }
            }
        }
        if let failure = progress.withLock({ $0.failure }) { throw failure }
    }

    private func fate(of mutant: Mutant, showings: [Showing]) throws -> Fate {
        guard !showings.isEmpty else { return .unreached }
        for showing in showings {
            let ended = try run(
                showing.suites, environment: ["MUTANT": "\(mutant.id)"], limit: showing.limit, enough: "✘ ")
            guard let status = ended.status else { return .endless }
            if status != 0 {
                return .noticed(by: Self.firstFailure(ended.output) ?? "the end of the program")
            }
        }
        return .survived
    }

    private static func firstFailure(_ output: String) -> String? {
        output.firstMatch(of: #/✘ Test ("[^"]+"|[A-Za-z0-9_]+)/#).map { String($0.1) }
    }

    private static let program = [
        ".build/debug/MeterGatewayPackageTests.xctest", "--testing-library", "swift-testing",
    ]

    private func suites(of tests: Set<String>) throws -> [Suite] {
        let listed = try Shell.output(Self.program + ["--list-tests"], in: copy.folder)
        let found = Set(listed.split(separator: "\n").compactMap { Suite(ofTest: $0) })
        return found.filter { tests.contains($0.target) }.sorted { "\($0)" < "\($1)" }
    }

    private func run(
        _ suites: [Suite], environment: [String: String], limit: Double?, enough: String?
    ) throws -> Shell.Ended {
        try Shell.run(
            Self.program + suites.flatMap { ["--filter", $0.filter] }, in: copy.folder,
            environment: environment.merging(
                ["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "64", "SWIFT_BACKTRACE": "enable=no"]) { $1 },
            limit: limit, enough: enough)
    }
}
