import GatewayAPI

extension Checkup {
    static func influx(_ influx: InfluxStatus) -> [Finding] {
        guard influx.configured else { return [] }
        let url = influx.url ?? "?"
        var all: [Finding] = []
        if let error = influx.error {
            all.append(
                Finding(
                    "influx", .problem, "nothing is sent to \(url): \(error)",
                    next: influx.next.map { "\($0); meterd keeps its readings and sends them later" }))
        } else if let taken = influx.taken {
            let more = influx.behind ? ", and more is on its way" : ""
            all.append(Finding("influx", .ok, "\(url) took \(influx.sent) points, the last at \(taken)\(more)"))
        } else {
            all.append(Finding("influx", .note, "\(url) got nothing yet", next: "run this again in a moment"))
        }
        if influx.rejected > 0 {
            all.append(
                Finding(
                    "influx", .note,
                    "\(influx.rejected) points were rejected\(influx.rejection.map { ": \($0)" } ?? "")",
                    next: "check whether its fields have another type, or its retention is shorter than back-fill"))
        }
        return all
    }
}
