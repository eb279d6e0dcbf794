import Domain
import GatewayAPI
import ProgramKit

enum PDOutput {
    static func standing(_ body: PDBody, _ times: TimeText) -> [String] {
        var lines: [String] = []
        if let contract = body.contract {
            let since = contract.since.map { ", since \(times.text($0))" } ?? ""
            lines.append("contract: \(contract.text)\(since)")
        } else {
            lines.append(body.attached == false ? "nothing plugged in" : "nothing agreed on since meterd listens")
        }
        if let line = body.line {
            lines.append(
                "VBUS \(volts(line.voltage_V)), \(Formatting.quantity(.current, line.current_A)), CC1 \(volts(line.cc1_V)), "
                    + "CC2 \(volts(line.cc2_V))")
        }
        if let time = body.capabilities_at, !body.capabilities_current {
            lines.append("offered at \(times.text(time)), before the link was lost; nothing else was heard since")
        }
        if !body.listening { lines.append("meterd is not connected to the meter, so it hears nothing now") }
        return lines
    }

    static func offers(_ body: PDBody) -> Table {
        var table = Table(["OBJECT", "OFFER", "", "ALSO"], wrapsLast: true)
        for offer in body.capabilities {
            let isUsed = offer.position == body.contract?.position
            table.add([
                .init("\(offer.position)", isWhole: true), .init(offer.text), .init(isUsed ? "in use" : ""),
                .init(offer.abilities.joined(separator: ", ")),
            ])
        }
        return table
    }

    static func entries(_ entries: [PDEntryBody], _ times: TimeText) -> Table {
        var table = Table(["TIME", "VBUS", "FROM", "WHAT"], wrapsLast: true)
        for entry in entries {
            table.add([
                .init(times.text(entry.time), isWhole: true), .init(volts(entry.line.voltage_V), isWhole: true),
                .init(from(entry)), .init(what(entry, times)),
            ])
        }
        return table
    }

    static func line(_ entry: PDEntryBody, _ times: TimeText) -> String {
        [times.text(entry.time), volts(entry.line.voltage_V), from(entry), what(entry, times)]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static func from(_ entry: PDEntryBody) -> String {
        guard let message = entry.message else { return "" }
        guard let from = message.from else { return message.sop }
        return from == "source" || from == "sink" ? from : "\(from) (\(message.sop))"
    }

    private static func what(_ entry: PDEntryBody, _ times: TimeText) -> String {
        let again = entry.message?.resent == true ? " (again)" : ""
        let more = entry.until.map { " (\(entry.more) more until \(times.text($0)))" } ?? ""
        return entry.text + again + more
    }

    private static func volts(_ value: Double) -> String { Formatting.quantity(.voltage, value) }
}
