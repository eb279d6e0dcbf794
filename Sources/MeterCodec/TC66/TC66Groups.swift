/// Finds which of a TC66's two data groups is counting: the one whose totals rise. Answers do not name it
/// (Docs/Protocols/TC66.md#groups).
struct TC66Groups: Sendable {
    private struct Totals: Equatable, Sendable {
        /// Charge in milliampere-hours; `energy` is in milliwatt-hours.
        var charge: Int
        var energy: Int

        init(_ block: TC66Block, group: Int) { (charge, energy) = block.rawTotals(group) }

        func rose(from before: Totals) -> Bool {
            self != before && charge >= before.charge && energy >= before.energy
        }
    }

    private var last: (first: Totals, second: Totals, serial: Int)?
    /// Data group in which the meter counts; nil until the totals of one group have risen.
    private(set) var counting: Int?

    /// Updates the counting group from an answer. Ignores fallen totals: a group was cleared, or another meter answers.
    mutating func note(_ block: TC66Block) {
        let (first, second) = (Totals(block, group: 0), Totals(block, group: 1))
        defer { last = (first, second, block.serial) }
        guard let last, last.serial == block.serial else {
            counting = nil
            return
        }
        switch (first.rose(from: last.first), second.rose(from: last.second)) {
        case (true, false): counting = 0
        case (false, true): counting = 1
        case (false, false): break
        // Both totals rose: the user changed the group in between, so either may count now.
        case (true, true): counting = nil
        }
    }
}
