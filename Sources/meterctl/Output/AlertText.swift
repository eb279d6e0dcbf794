import Domain
import GatewayAPI
import ProgramKit

enum AlertText {
    static func table(_ alerts: [AlertBody], _ times: TimeText) -> Table {
        var table = Table(["ID", "METER", "NAME", "CONDITION", "STATE", "LAST", "COUNT", "TELLS"])
        for alert in alerts {
            table.add([
                .init("\(alert.id)"), .init(alert.meter_name ?? alert.meter), .init(alert.name ?? "–"),
                .init(alert.condition), .init(alert.state, colour(of: alert.state)),
                .init(alert.raised_at.map { times.text($0) } ?? "–"),
                .init("\(alert.count)"), .init(told(by: alert)),
            ])
        }
        return table
    }

    static func table(_ alert: AlertBody, _ times: TimeText) -> Table {
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String) { table.add([.init(field), .init(value)]) }
        add("id", "\(alert.id)")
        if let name = alert.name { add("name", name) }
        add("meter", alert.meter_name.map { "\($0) (\(alert.meter))" } ?? alert.meter)
        add("condition", alert.condition)
        add("state", alert.state)
        add(
            alert.state == "momentary" ? "last happened" : "last raised",
            alert.raised_at.map { times.text($0) } ?? "never")
        if let value = alert.value {
            let quantity = Quantity.allCases.first { $0.key == alert.quantity }
            add("by the value", quantity.map { Formatting.quantity($0, value) } ?? "\(value)")
        }
        if alert.state != "momentary" { add("last over", alert.cleared_at.map { times.text($0) } ?? "never") }
        add("count", "\(alert.count)")
        add("tells", told(by: alert))
        return table
    }

    static func table(_ targets: [AlertTarget]) -> Table {
        var table = Table(["NOTIFY", "KIND", "WAITING", "DELIVERED", "LOST"])
        for target in targets {
            table.add([
                .init(target.name), .init(target.kind), .init("\(target.waiting)"), .init("\(target.delivered)"),
                .init("\(target.lost)", target.lost > 0 ? .yellow : nil),
            ])
        }
        return table
    }

    static func table(_ test: AlertTestBody) -> Table {
        var table = Table(["NOTIFY", "RESULT"])
        for result in test.results {
            table.add([
                .init(result.target),
                .init(result.delivered ? "told" : result.error ?? "not told", result.delivered ? .green : .red),
            ])
        }
        return table
    }

    private static func told(by alert: AlertBody) -> String {
        alert.notify.isEmpty ? "–" : alert.notify.joined(separator: ", ")
    }

    private static func colour(of state: String) -> Terminal.Colour? {
        switch state {
        case "raised", "broken": .red
        case "quiet": .green
        default: nil
        }
    }

    /// Returns text such as `2 alerts are raised: meterctl alert list`; nil if no alert is raised.
    static func line(raised: Int?) -> String? {
        guard let raised, raised > 0 else { return nil }
        return "\(raised) alert\(raised == 1 ? " is" : "s are") raised: meterctl alert list"
    }
}
