import Foundation

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

    /// How long tests take with nothing changed, in seconds. They must pass.
    func baseline(of tests: [String]) throws -> Double {
        let start = ContinuousClock.now
        let (status, output) = try run(tests, mutant: 0, limit: nil)
        guard status == 0 else {
            throw Shell.Failed(description: "\(tests) fail with no mutant in force:\n\(output.suffix(3000))")
        }
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// - Parameter limits: the longest time of each group of tests, in seconds, by the names of its tests.
    func fate(of mutant: Mutant, own: [String], above: [String], limit: ([String]) throws -> Double) throws -> Fate {
        for tests in [own, options.above ? above : []] where !tests.isEmpty {
            let (status, output) = try run(tests, mutant: mutant.id, limit: try limit(tests))
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
