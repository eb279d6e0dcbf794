import Domain
import Testing

struct FormulaMachineTests {
    private static let difference = "a.power - b.power"
    private static let lasting = Duration.seconds(3)

    private static func machine(_ text: String) throws -> FormulaMachine {
        FormulaMachine(try FormulaParser.formula(text))
    }

    /// What happens to the operands, and what comes out.
    enum Step {
        /// Value of an operand at a second.
        case heard(Double?, of: Int, at: Int)
        case lost(Int, at: Int)
    }

    /// What comes out of a step: nothing, or a reading.
    enum Result: Equatable {
        case nothing, unknown
        case value(Double)

        init(_ reading: Reading?) {
            guard let reading else {
                self = .nothing
                return
            }
            self = reading[.power].map { .value($0) } ?? reading[.ratio].map { .value($0) } ?? .unknown
        }
    }

    @Test(
        arguments: [
            // At the rate of the slowest part, from the last values.
            (
                difference,
                [
                    .heard(5, of: 0, at: 0), .heard(1, of: 1, at: 0), .heard(6, of: 0, at: 1), .heard(7, of: 0, at: 2),
                    .heard(2, of: 1, at: 2), .heard(8, of: 0, at: 3), .heard(9, of: 0, at: 4), .heard(3, of: 1, at: 4),
                ], [.unknown, .nothing, .value(5), .nothing, .value(5), .nothing, .nothing, .value(6)]
            ),
            // Of two at one rate, values that came together.
            (
                difference,
                [
                    .heard(1, of: 0, at: 0), .heard(1, of: 1, at: 0), .heard(2, of: 0, at: 1), .heard(2, of: 1, at: 1),
                    .heard(3, of: 0, at: 2), .heard(3, of: 1, at: 2), .heard(4, of: 0, at: 3), .heard(4, of: 1, at: 3),
                ], [.unknown, .nothing, .value(1), .nothing, .nothing, .value(0), .nothing, .value(0)]
            ),
            // Of three that never come together, each time the same one ends the wait.
            (
                "a.power + b.power + c.power",
                [
                    .heard(1, of: 0, at: 0), .heard(1, of: 1, at: 1), .heard(1, of: 2, at: 2), .heard(2, of: 0, at: 3),
                    .heard(2, of: 1, at: 4), .heard(2, of: 2, at: 5), .heard(3, of: 0, at: 6),
                ], [.unknown, .nothing, .nothing, .value(4), .nothing, .nothing, .value(7)]
            ),
            // A part that does not know its value, and one that divides by zero.
            (
                difference, [.heard(5, of: 0, at: 0), .heard(nil, of: 1, at: 0), .heard(5, of: 0, at: 1)],
                [.unknown, .nothing, .unknown]
            ),
            (
                "a.power / b.power",
                [
                    .heard(1, of: 0, at: 0), .heard(0, of: 1, at: 0), .heard(1, of: 0, at: 1), .heard(0, of: 1, at: 1),
                    .heard(1, of: 0, at: 2), .heard(2, of: 1, at: 2),
                ], [.unknown, .nothing, .unknown, .nothing, .nothing, .value(0.5)]
            ),
            // A part that is lost no longer delays the others, and comes back.
            (
                difference,
                [
                    .heard(5, of: 0, at: 0), .heard(1, of: 1, at: 0), .heard(5, of: 0, at: 1), .lost(1, at: 1),
                    .heard(5, of: 0, at: 2), .heard(5, of: 0, at: 3), .heard(1, of: 1, at: 3), .heard(6, of: 0, at: 4),
                    .heard(1, of: 1, at: 4),
                ],
                [.unknown, .nothing, .value(4), .nothing, .unknown, .unknown, .nothing, .value(5), .nothing]
            ),
            // A part whose value is too old, although nobody said that it is lost.
            (
                difference,
                [
                    .heard(5, of: 0, at: 0), .heard(1, of: 1, at: 0), .heard(5, of: 0, at: 3), .heard(1, of: 1, at: 3),
                    .heard(6, of: 0, at: 6), .heard(7, of: 0, at: 7),
                ], [.unknown, .nothing, .value(4), .nothing, .nothing, .unknown]
            ),
            // Both are lost; what has no place in the formula is ignored.
            (
                difference, [.heard(5, of: 0, at: 0), .lost(0, at: 1), .heard(5, of: 7, at: 1), .lost(-1, at: 1)],
                [.unknown, .nothing, .nothing, .nothing]
            ),
        ] as [(String, [Step], [Result])])
    func reading_comesWithTheSlowestPart(text: String, steps: [Step], results: [Result]) throws {
        var machine = try Self.machine(text)
        var found: [Result] = []
        for step in steps {
            let second: Int
            switch step {
            case .heard(let value, let operand, let at):
                second = at
                machine.heard(value, of: operand, at: .origin + .seconds(at), lasting: Self.lasting)
            case .lost(let operand, let at):
                second = at
                machine.lost(operand)
            }
            found.append(Result(machine.reading(at: .origin + .seconds(second))))
        }
        #expect(found == results)
    }

    @Test func data_lastAsLongAsTheirMeterSays() throws {
        var machine = try Self.machine(Self.difference)
        #expect(!machine.hasData(at: .origin))
        machine.heard(nil, of: 1, at: .origin, lasting: Self.lasting)
        #expect(machine.hasData(of: 1, at: .origin + Self.lasting) && !machine.hasData(of: 0, at: .origin))
        #expect(!machine.hasData(at: .origin + Self.lasting + .milliseconds(1)))
        #expect(machine.unknown.supported == QuantitySet(.power) && machine.unknown[.power] == nil)
    }
}
