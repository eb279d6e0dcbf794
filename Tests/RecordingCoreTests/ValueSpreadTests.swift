import Domain
import Testing

struct ValueSpreadTests {
    private func spread(_ values: some Sequence<Double>) -> ValueSpread {
        var spread = ValueSpread()
        for value in values { spread.add(value) }
        return spread
    }

    @Test func nothing_hasNoQuantile() {
        let spread = spread([])

        #expect(spread.quantile(0.5) == nil)
        #expect(spread.least == nil)
        #expect(spread.count == 0)
    }

    @Test(arguments: [0, 0.05, 0.5, 0.95, 1])
    func oneValue_isEveryQuantile_exactly(part: Double) { #expect(spread([5.104]).quantile(part) == 5.104) }

    /// The model: the values in order.
    @Test(arguments: 1...12) func quantiles_areThoseOfTheSortedValues(seed: UInt64) {
        var rng = SplitMix64(seed: seed)
        let scale = [1.0, 1e-5, 1e6][Int(seed % 3)]
        let count = Int.random(in: 1...3000, using: &rng)
        let values = (0..<count).map { _ in Double.random(in: -1...3, using: &rng) * scale }
        let sorted = values.sorted()
        let spread = spread(values)
        for part in [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1] {
            let exact = sorted[max(0, min(count - 1, Int((part * Double(count)).rounded(.up)) - 1))]
            let found = spread.quantile(part) ?? .nan
            #expect(
                (found - exact).magnitude <= exact.magnitude / 4096 + 1e-300,
                "seed \(seed), \(part): \(found), \(exact)")
        }
        #expect(spread.least == sorted.first)
        #expect(spread.greatest == sorted.last)
    }

    /// Whoever measures for a month with noise in every digit still gets an answer, in bounded memory.
    @Test func veryManyDifferentValues_areMadeCoarser_andStayInOrder() {
        var rng = SplitMix64(seed: 7)
        let values = (0..<200_000).map { _ in
            Double(bitPattern: UInt64.random(in: 0..<Double.infinity.bitPattern, using: &rng))
        }
        let spread = spread(values)
        let sorted = values.sorted()
        let found = [0.05, 0.5, 0.95].map { spread.quantile($0) ?? .nan }

        #expect(found == found.sorted())
        for (part, value) in zip([0.05, 0.5, 0.95], found) {
            let rank = sorted.partitioningIndex { $0 >= value }
            #expect((Double(rank) / 200_000 - part).magnitude < 0.01)
        }
    }

    @Test func weights_countAsThatManyValues_andKeepTheirExtremes() {
        var weighted = ValueSpread()
        weighted.add(1, count: 90, extremes: 0.5...1.5)
        weighted.add(2, count: 10, extremes: 1.9...9)

        #expect(weighted.quantile(0.9) == 1)
        #expect(weighted.quantile(0.91) == 2)
        // A part that is none is the nearest one.
        #expect(weighted.quantiles([-1, 0, 1, 1.5]) == [1, 1, 2, 2])
        #expect(weighted.least == 0.5)
        #expect(weighted.greatest == 9)
        #expect(weighted.count == 100)
    }

    @Test func zero_isOneValue_whateverItsSign_andLiesBetweenTheOthers() {
        let spread = spread([-1, -0.0, 0, 1])

        #expect(spread.quantile(0.25) == -1)
        #expect(spread.quantile(0.5) == 0)
        #expect(spread.quantile(0.75) == 0)
        #expect(spread.quantile(1) == 1)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func noNumber_isNoValue(value: Double) {
        #expect(spread([value]).count == 0)
    }
}

extension Array {
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
