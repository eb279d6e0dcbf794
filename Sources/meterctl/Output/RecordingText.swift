import Domain
import GatewayAPI
import ProgramKit

enum RecordingText {
    /// - Parameter names: meter names by id.
    static func table(_ recordings: [RecordingBody], _ times: TimeText, named names: [String: String]) -> Table {
        var table = Table(["ID", "METER", "NAME", "HOST", "STATE", "STARTED", "DURATION", "CHARGE", "ENERGY", "MARKS"])
        for recording in recordings {
            table.add([
                .init(recording.id), .init(names[recording.meter] ?? recording.meter), .init(recording.name ?? "–"),
                .init(host(of: recording)),
                .init(recording.state, recording.state == "running" ? .green : nil),
                .init(times.text(recording.started), isWhole: true),
                .init(Formatting.span(milliseconds: recording.duration_ms), isWhole: true),
                .init(Formatting.quantity(.charge, recording.charge_mAh), isWhole: true),
                .init(Formatting.quantity(.energy, recording.energy_Wh), isWhole: true),
                .init(marks(of: recording), .yellow),
            ])
        }
        return table
    }

    static func table(_ recording: RecordingBody, _ times: TimeText) -> Table {
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String) { table.add([.init(field), .init(value)]) }
        add("id", recording.id)
        add("meter", recording.meter)
        if let name = recording.name { add("name", name) }
        if let note = recording.note { add("note", note) }
        if let kind = recording.imported { add("imported from", words(forFile: kind)) }
        add("host", host(of: recording))
        add("state", state(of: recording))
        for fact in BatteryTestText.facts(of: recording) { add(fact.field, fact.value) }
        add("started", times.text(recording.started))
        add(recording.state == "running" ? "last reading" : "ended", times.text(recording.until))
        add("duration", Formatting.span(milliseconds: recording.duration_ms))
        add("charge", beside(.charge, recording.charge_mAh, recording.meter_charge_mAh))
        add("energy", beside(.energy, recording.energy_Wh, recording.meter_energy_Wh))
        if let cost = recording.cost { add("cost", words(for: cost)) }
        add("voltage", range(.voltage, recording.voltage_V))
        add("current", range(.current, recording.current_A))
        add("power", range(.power, recording.power_W))
        add("temperature", range(.temperature, recording.temperature_C))
        for (key, value) in told(recording) { add(key, value) }
        add("readings", "\(recording.readings)")
        if recording.gap_count > 0 {
            add(
                "gaps",
                "\(recording.gap_count), \(Formatting.span(milliseconds: recording.gap_ms)) in all, which is not added up"
            )
            for gap in recording.gaps.prefix(gapsShown) {
                let length = Formatting.span(milliseconds: gap.duration_ms)
                add("", "\(times.text(gap.start))  \(length)  \(words(forCause: gap.cause))")
            }
            if recording.gap_count > gapsShown { add("", "and \(recording.gap_count - gapsShown) more") }
        }
        for mark in recording.marks where mark != "gaps" && mark != "imported" { add("mark", words(forMark: mark)) }
        if !recording.overlaps.isEmpty {
            add("overlaps", "\(recording.overlaps.joined(separator: ", ")) of the same meter")
        }
        return table
    }

    private static let gapsShown = 10

    /// Throws `CommandFailure` for another host's recording, whose measurements are not here.
    static func requireMine(_ recording: RecordingBody) throws {
        guard !recording.mine else { return }
        throw CommandFailure(
            .error, "the readings of \(recording.id) are on \(recording.host ?? recording.host_id)",
            next: "run this on that host; here only its sums are known")
    }

    private static func host(of recording: RecordingBody) -> String {
        (recording.host ?? recording.host_id) + (recording.mine ? " (this host)" : "")
    }

    /// Returns the meter's other values, such as counters: at the start, and at the end if they changed.
    private static func told(_ recording: RecordingBody) -> [(String, String)] {
        let (start, end) = (recording.told_at_start, recording.told_at_end)
        let keys = Swift.Set((start?.details ?? [:]).keys).union((end?.details ?? [:]).keys).sorted()
        let details = keys.map { ($0, change(start?.details[$0].map { "\($0)" }, end?.details[$0].map { "\($0)" })) }
        let groups = (end ?? start)?.groups.compactMap { group -> (String, String)? in
            let before = start?.groups.first { $0.index == group.index }
            // Omit empty groups: people use one or two of the meter's ten counter groups.
            guard [before, group].contains(where: { $0.map { $0.charge_mAh != 0 || $0.energy_Wh != 0 } ?? false })
            else {
                return nil
            }
            return ("group \(group.index)", change(before.map { words($0) }, words(group)))
        }
        return details + (groups ?? [])
    }

    private static func words(_ group: TelemetryBody.Group) -> String {
        "\(Formatting.quantity(.charge, group.charge_mAh)), \(Formatting.quantity(.energy, group.energy_Wh))"
    }

    private static func change(_ start: String?, _ end: String?) -> String {
        guard let start, let end, start != end else { return end ?? start ?? "–" }
        return "\(start), at the end \(end)"
    }

    private static func words(forFile kind: String) -> String {
        ImportFormat(rawValue: kind)?.title ?? kind
    }

    private static func state(of recording: RecordingBody) -> String {
        guard recording.imported == nil else { return recording.state }
        let begun = recording.trigger == "threshold" ? "begun by its current" : "begun by hand"
        let ended =
            switch recording.end {
            case "hand": ", ended by hand"
            case "threshold": ", ended by its current"
            case "cutoff": ", ended by its cut-off"
            case "gap": ", ended as nothing came any more"
            case "settings": ", ended by a setting"
            default: ""
            }
        return "\(recording.state), \(begun)\(ended)"
    }

    private static func marks(of recording: RecordingBody) -> String {
        let marks = recording.marks + (recording.overlaps.isEmpty ? [] : ["overlap"])
        return marks.isEmpty ? "–" : marks.joined(separator: ", ")
    }

    /// Returns text such as `0.0016 EUR, at 0.32 EUR a kWh`.
    static func words(for cost: CostBody) -> String {
        let tariff = Tariff("\(Formatting.decimal(cost.per_kWh, digits: 6)) \(cost.currency)")
        return Formatting.cost(cost) + (tariff.map { ", at \($0) a kWh" } ?? "")
    }

    private static func beside(_ quantity: Quantity, _ host: Double?, _ meter: Double?) -> String {
        let own = meter.map { " (the meter's own counter: \(Formatting.quantity(quantity, $0)))" } ?? ""
        return Formatting.quantity(quantity, host) + own
    }

    private static func range(_ quantity: Quantity, _ range: RecordingBody.Range?) -> String {
        guard let range else { return "–" }
        let (least, greatest) = (Formatting.quantity(quantity, range.min), Formatting.quantity(quantity, range.max))
        return "\(Formatting.quantity(quantity, range.mean)) on average, \(least) to \(greatest)"
    }

    static func words(forCause cause: String) -> String {
        switch cause {
        case "link": "the link was lost"
        case "silence": "nothing came"
        case "host": "the host was down"
        default: cause
        }
    }

    private static func words(forMark mark: String) -> String {
        switch mark {
        case "host-restarted": "meterd was restarted meanwhile"
        case "counter-reset": "the meter's own counter began anew"
        case "counter-jump": "the meter's own counter jumped: another group was chosen"
        case "empty": "no reading came"
        default: mark
        }
    }
}
