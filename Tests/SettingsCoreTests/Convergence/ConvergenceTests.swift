import Domain
import Testing

/// Random histories of three to eight hosts: whatever is lost, late, duplicated, deleted or stamped by a wrong clock,
/// all end with the same records, made of the newest values, with nobody's edit lost. 20,400 schedules in a run.
struct ConvergenceTests {
    /// A part of a family of schedules, small enough to run several at once.
    struct Portion: Sendable, CustomStringConvertible {
        var name: String
        var trouble: Trouble
        var seeds: Range<UInt64>

        var description: String { "\(name), seeds \(seeds)" }
    }

    private static let families: [(name: String, trouble: Trouble)] = [
        ("edits", []),
        ("deletions", [.deletions]),
        ("coarse clocks", [.deletions, .coarseClocks]),
        ("skewed clocks", [.deletions, .skewedClocks]),
        ("a clock years ahead", [.deletions, .yearsAhead]),
        ("counter overflow", [.deletions, .coarseClocks, .counterOverflow]),
        ("a cloned host", [.deletions, .coarseClocks, .clone]),
        ("a restored cloud", [.deletions, .restore]),
        ("purged tombstones", [.deletions, .purge]),
        ("older names", [.olderNames]),
        ("older names, deleted", [.olderNames, .deletions, .skewedClocks]),
        ("an older host beside", [.olderNames, .olderHost, .deletions]),
    ]

    private static let portions: [Portion] = families.flatMap { family in
        (0..<10).map { Portion(name: family.name, trouble: family.trouble, seeds: $0 * 170..<($0 + 1) * 170) }
    }

    @Test(arguments: portions)
    func replicas_endEqual_madeOfTheNewest(_ portion: Portion) {
        for seed in portion.seeds {
            var schedule = Schedule(seed: seed, trouble: portion.trouble)

            let failure = schedule.run()

            #expect(failure == nil, "\(portion.name), seed \(seed)")
        }
    }

    /// The troubles that the families are named for do happen in them.
    @Test func schedules_meetTheirTrouble() {
        func met(_ trouble: Trouble, _ count: (ModelReplica.Met) -> Int) -> Int {
            (UInt64(0)..<60).reduce(0) { sum, seed in
                var schedule = Schedule(seed: seed, trouble: trouble)
                _ = schedule.run()
                return sum + schedule.replicas.reduce(0) { $0 + count($1.met) }
            }
        }

        let counts = [
            "restamped": met([.deletions, .yearsAhead], \.restamped),
            "overflowed": met([.deletions, .coarseClocks, .counterOverflow], \.overflowed),
            "adopted": met([.deletions, .restore], \.adopted),
            "refetched": met([.deletions, .purge], \.refetched),
            "dropped in a refetch": met([.deletions, .purge], \.droppedInRefetch),
            "folded": met([.olderNames, .deletions, .skewedClocks], \.folded),
            "lifted": met([.olderNames, .deletions, .skewedClocks], \.lifted),
        ]

        for (what, count) in counts { #expect(count >= 5, "\(what) \(count) times") }
    }

    /// The checks can fail: they find each mistake in the merge within a few schedules.
    @Test(arguments: MergeRule.allCases.filter { $0 != .real })
    func checks_findAMistake_inTheMerge(_ rule: MergeRule) {
        let trouble: Trouble = [.deletions, .coarseClocks, .clone]
        let seeds: Range<UInt64> = 0..<300

        let found = seeds.first { seed in
            var schedule = Schedule(seed: seed, trouble: trouble, rule: rule)
            return schedule.run() != nil
        }

        #expect(found != nil, "\(rule) passed \(seeds.count) schedules")
    }
}
