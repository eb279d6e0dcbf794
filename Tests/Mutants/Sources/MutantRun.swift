import Foundation
import Synchronization

/// Builds mutants into the copy and lets the tests find them.
struct MutantRun {
    let copy: WorkingCopy
    let graph: PackageGraph
    let options: Options

    enum Fate: Sendable {
        /// Tests failed: the own ones, or those of targets above.
        case noticed(by: String)
        /// Tests did not end.
        case endless
        case survived
        /// Listed as one that changes nothing that anybody could see.
        case equivalent(String)
    }

    // MARK: Picking

    /// As many of each target, and of the kinds of mistake within it, as can be. Further ones stand by for those that
    /// the compiler refuses.
    func pick() throws -> [Mutant] {
        var random = SeededGenerator(state: options.seed)
        var piles: [[Mutant]] = []
        for target in options.targets {
            var found: [Mutant] = []
            for file in try copy.sources(of: target) {
                found += MutantFinder(target: target, file: file, source: try copy.source(file)).found
            }
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
        var picked: [Mutant] = []
        let wanted = options.count + options.count / 3 + 4
        while picked.count < wanted, piles.contains(where: { !$0.isEmpty }) {
            for place in piles.indices where picked.count < wanted {
                while let next = piles[place].popLast() {
                    guard !picked.contains(where: { $0.overlaps(next) }) else { continue }
                    picked.append(next)
                    break
                }
            }
        }
        for place in picked.indices { picked[place].id = place + 1 }
        return picked
    }

    // MARK: Building

    /// - Returns: those that compile, in the order in which they were picked.
    func build(_ picked: [Mutant]) throws -> [Mutant] {
        var mutants = picked
        for _ in 0..<12 {
            let places = try copy.build(in: mutants, of: options.targets)
            let (status, output) = try Shell.run(["swift", "build", "--build-tests"], in: copy.folder)
            if status == 0 { return mutants }
            let errors = Self.errors(output, in: copy.folder)
            guard !errors.isEmpty else { throw Shell.Failed(description: String(output.suffix(4000))) }
            var refused: Set<Int> = []
            for error in errors {
                let here = places.filter { $0.value.file == error.file }
                let exact = here.filter { $0.value.lines.contains(error.line) }
                // Some errors stand elsewhere, as that of a value that is used before it was set.
                refused.formUnion((exact.isEmpty ? here : exact).keys)
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

    /// What tests take of a processor with nothing changed, in seconds. They must pass.
    private func baseline(of tests: [String]) throws -> Double {
        let before = Shell.childrenTime()
        let (status, output) = try run(tests, mutant: 0, limit: nil)
        guard status == 0 else {
            throw Shell.Failed(description: "\(tests) fail with no mutant in force:\n\(output.suffix(3000))")
        }
        return Shell.childrenTime() - before
    }

    /// Tries every mutant, `options.jobs` at a time.
    ///
    /// - Parameter found: called with each mutant's fate, in no order, one at a time.
    func tryAll(_ mutants: [Mutant], among tests: Set<String>, found: (Mutant, Fate) -> Void) throws {
        var limits: [[String]: Double] = [:]
        var groups: [String: [[String]]] = [:]
        for target in Set(mutants.map(\.target)) {
            let own = graph.ownTests(of: PackageGraph.target(target)).filter(tests.contains)
            let above = options.above ? graph.testsAbove(PackageGraph.target(target)).filter(tests.contains) : []
            groups[target] = [own, above].filter { !$0.isEmpty }
            for group in groups[target] ?? [] where limits[group] == nil {
                limits[group] = try 3 * baseline(of: group) + 10
            }
        }
        struct Progress: Sendable {
            var next = 0
            var done = 0
            var failure: (any Error)?
        }
        let progress = Mutex(Progress())
        let report = Mutex(())
        let (known, plan, run) = (limits, groups, self)
        withoutActuallyEscaping(found) { found in
            nonisolated(unsafe) let found = found
            DispatchQueue.concurrentPerform(iterations: options.jobs) { _ in
                while let mutant = progress.withLock({ progress -> Mutant? in
                    guard progress.failure == nil, progress.next < mutants.count else { return nil }
                    progress.next += 1
                    return mutants[progress.next - 1]
                }) {
                    do {
                        let fate = try run.fate(of: mutant, groups: plan[mutant.target] ?? [], limits: known)
                        report.withLock { _ in found(mutant, fate) }
                    } catch {
                        progress.withLock { $0.failure = error }
                    }
                }
            }
        }
        if let failure = progress.withLock({ $0.failure }) { throw failure }
    }

    /// - Parameters:
    ///   - groups: the tests that it is shown to, first those of its own target.
    ///   - limits: what each group may take of a processor, in seconds.
    private func fate(of mutant: Mutant, groups: [[String]], limits: [[String]: Double]) throws -> Fate {
        for tests in groups {
            let (status, output) = try run(tests, mutant: mutant.id, limit: limits[tests])
            guard let status else { return .endless }
            if status != 0 { return .noticed(by: Self.firstFailure(output) ?? tests.joined(separator: ", ")) }
        }
        return .survived
    }

    private static func firstFailure(_ output: String) -> String? {
        output.firstMatch(of: #/✘ Test ("[^"]+"|[A-Za-z0-9_]+)/#).map { String($0.1) }
    }

    private func run(_ tests: [String], mutant: Int, limit: Double?) throws -> (status: Int32?, output: String) {
        let filters = tests.flatMap { ["--filter", "^\($0)\\."] }
        return try Shell.run(
            [".build/debug/MeterGatewayPackageTests.xctest", "--testing-library", "swift-testing"] + filters,
            in: copy.folder,
            environment: [
                "MUTANT": "\(mutant)", "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "64",
                "SWIFT_BACKTRACE": "enable=no",
            ], limit: limit, enough: mutant == 0 ? nil : "✘ ")
    }
}
