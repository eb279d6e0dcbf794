/// A small mistake of the kind that people make, at one place of a source file.
///
/// Built in beside the right code, behind a switch: one build holds all of a run's mutants, and the environment of a
/// test run says which of them is in force.
struct Mutant: Sendable {
    /// Its number, by which the switch knows it. Set once it is built.
    var id = 0
    /// The seed that picked it.
    var seed: UInt64 = 0
    let target: String
    /// From the package's folder.
    let file: String
    /// The line of the source where it begins, from 1.
    let line: Int
    /// That line, without the blanks around it. With the change it names the mutant in the list of equivalent ones.
    let text: String
    let kind: Kind
    /// What was written and what is written instead, for people.
    let change: String
    /// What it stands for, in bytes of the file.
    let range: Range<Int>
    /// What is written for the range is `head`, whether the mutant is in force, and `tail`.
    let head: String
    let tail: String

    enum Kind: String, CaseIterable, Sendable {
        /// `<` for `<=`, `==` for `!=`.
        case comparison
        /// `&&` for `||`.
        case connective
        /// The right half of a condition is forgotten.
        case half
        /// `+` for `-`.
        case arithmetic
        /// A number is one off.
        case number
        /// `true` for `false`.
        case boolean
        /// A `!` too few.
        case negation
        /// `min` for `max`.
        case extreme
        /// A guard that lets everything pass.
        case `guard`
        /// An `if` that is never entered.
        case `if`
        /// One of two values is taken always.
        case choice
        /// An assignment, a reset or a call is forgotten.
        case statement
        /// A `return`, `continue` or `break` is forgotten.
        case exit
        /// One of several equal branches is forgotten.
        case branch
    }

    /// Whether what is written instead stands inside the other's place or the other way round.
    func overlaps(_ other: Mutant) -> Bool { file == other.file && range.overlaps(other.range) }
}
