import GatewayAPI
import ProgramKit

enum LeaseText {
    /// Formats the remaining time: `0 s`, `103 s`, `2 min`. Rounds down, so that nobody relies on a second too many.
    static func countdown(milliseconds: Int64) -> String {
        milliseconds < 1000 ? "0 s" : Formatting.age(milliseconds: milliseconds)
    }

    /// Returns a cell for the table of `status`: `mine 103 s`, `pi-kitchen 57 s`, `lost`, `none`.
    static func cell(_ lease: LeaseStatus?) -> Table.Cell {
        guard let lease else { return Table.Cell("–") }
        let holder = lease.holder ?? "another host"
        let rest = lease.remaining_ms.map { " " + countdown(milliseconds: $0) } ?? ""
        let text =
            switch lease.state {
            case .held: "mine\(rest)"
            case .elsewhere: "\(holder)\(rest)"
            case .jeopardy: "jeopardy\(rest)"
            case .waiting: "waiting for \(holder)\(rest)"
            case .expired: "\(holder) expired"
            case .unleased:
                lease.holder.map { "unleased, \($0) has it" }
                    ?? (lease.read_only == true ? "unleased, read-only" : "unleased")
            case .none, .requesting, .lost: lease.state.rawValue
            }
        return Table.Cell(text, colour(of: lease.state.rawValue))
    }

    static func detail(_ lease: LeaseStatus?, _ times: TimeText) -> String? {
        guard let lease else { return nil }
        let parts = [
            cell(lease).text, lease.policy.map { "policy \($0)" }, lease.token.map { "token \($0)" },
            lease.since.map { "since \(times.text($0))" },
            lease.waiting.isEmpty ? nil : "waiting: \(lease.waiting.joined(separator: ", "))",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    static func colour(of state: String) -> Terminal.Colour? {
        switch state {
        case "held": .green
        case "jeopardy", "unleased", "waiting", "requesting": .yellow
        case "lost": .red
        case "none", "expired", "elsewhere": .dim
        default: nil
        }
    }
}
