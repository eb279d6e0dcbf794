import Domain
import GatewayAPI
import ProgramKit

enum BatteryTestText {
    /// - Parameter names: meter names by id.
    static func table(_ tests: [RecordingBody], _ times: TimeText, named names: [String: String]) -> Table {
        var table = Table(["ID", "METER", "NAME", "UNTIL", "STATE", "STARTED", "DURATION", "CAPACITY", "ENERGY"])
        for test in tests {
            table.add([
                .init(test.id), .init(names[test.meter] ?? test.meter), .init(test.name ?? "–"),
                .init(test.test?.until ?? "–"),
                .init(state(of: test), colour(of: test)), .init(times.text(test.started), isWhole: true),
                .init(Formatting.span(milliseconds: test.duration_ms), isWhole: true),
                .init(Formatting.quantity(.charge, test.charge_mAh.map(\.magnitude)), isWhole: true),
                .init(Formatting.quantity(.energy, test.energy_Wh.map(\.magnitude)), isWhole: true),
            ])
        }
        return table
    }

    static func state(of test: RecordingBody) -> String {
        switch (test.state, test.end) {
        case ("waiting", _): "waits"
        case ("running", _): "goes on"
        case (_, "cutoff"): test.gap_count > 0 ? "done, with gaps" : "done"
        case (_, "gap"): "meter lost"
        case (_, "load"): "load not on"
        case (_, "hand"): "stopped"
        default: test.state
        }
    }

    private static func colour(of test: RecordingBody) -> Terminal.Colour? {
        switch (test.state, test.end) {
        case ("running", _), ("waiting", _): .green
        case (_, "gap"), (_, "load"): .yellow
        default: test.gap_count > 0 ? .yellow : nil
        }
    }

    static func begun(_ test: RecordingBody, on meter: String) -> String {
        let until = test.test?.until ?? ""
        if let load = test.test?.load {
            return "\(meter) draws \(words(load)), and then switches itself off; meterctl battery-test show \(test.id)"
        }
        guard test.state == "waiting", let current = test.test?.start_above_A else {
            return "it goes on until \(until); meterctl battery-test show \(test.id)"
        }
        return
            "it begins when \(Formatting.quantity(.current, current)) flow through \(meter), and goes on until \(until)"
    }

    /// Returns text such as `1.500 A down to 3.000 V, for 8 h at most`.
    private static func words(_ load: LoadBody) -> String {
        let limit = load.limit_ms.map { ", for \(Formatting.span(milliseconds: $0)) at most" } ?? ""
        return
            "\(Formatting.quantity(.current, load.current_A)) down to \(Formatting.quantity(.voltage, load.cutoff_V))\(limit)"
    }

    static func stopped(_ load: LoadBody, of meter: String) -> String {
        if let problem = load.problem { return "\(meter): \(problem)" }
        guard load.state != "over" else { return "the load \(meter) is off" }
        return
            "the load \(meter) is not heard, so it may still be on, down to its own cut-off; it is switched off once it is back"
    }

    private static func standing(_ load: LoadBody) -> String {
        let loss =
            load.on_link_loss == "off"
            ? "it is switched off once it is heard again" : "the test goes on once it is heard again"
        return switch load.state {
        case "preparing": "is being set"
        case "drawing": "is on"
        case "away": "is not heard and goes on by itself, down to its own cut-off; \(loss)"
        case "ending": "is to be switched off, and may still be on"
        default: "is off"
        }
    }

    static func facts(of recording: RecordingBody) -> [(field: String, value: String)] {
        guard let test = recording.test else { return [] }
        var facts = [("until", test.until)]
        if let load = test.load {
            facts += [("draws", words(load)), ("load", standing(load))]
            if let problem = load.problem { facts.append(("problem", problem)) }
        }
        if recording.state == "waiting", let current = test.start_above_A {
            facts.append(("begins", "when \(Formatting.quantity(.current, current)) flow"))
        }
        if recording.state == "running", !test.armed {
            facts.append(("cut-off", "counts once a value on its other side was seen"))
        }
        if let value = test.value, let quantity = Quantity.allCases.first(where: { $0.key == test.quantity }) {
            facts.append(("cut-off", "reached with \(Formatting.quantity(quantity, value))"))
        }
        if recording.state == "ended" { facts.append(("result", result(of: recording))) }
        if !test.notify.isEmpty { facts.append(("tells", test.notify.joined(separator: ", "))) }
        return facts
    }

    /// Describes the test's end, with a warning if gaps may make the measured capacity too small.
    private static func result(of recording: RecordingBody) -> String {
        let end =
            switch recording.end {
            case "cutoff": "the cut-off was reached"
            case "load": "the load could not be set or switched on"
            case "gap": "the meter was not heard any more, which need not be the battery's end"
            default: "it was ended by hand, before its cut-off"
            }
        guard recording.gap_count > 0 else { return end }
        return "\(end); what flowed in its gaps is not in it, so the capacity may be larger than shown"
    }
}
