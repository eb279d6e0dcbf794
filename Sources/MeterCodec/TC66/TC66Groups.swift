/// Finds the counting group of a TC66's two data groups: the group whose totals rise. An answer does not name it
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

    /// Updates the counting group from an answer. Fallen totals show no group, because they mean that a group was
    /// cleared or that another meter answers.
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
        // Both totals rose, so the group was changed between the answers and either may count now.
        case (true, true): counting = nil
        }
    }
}
