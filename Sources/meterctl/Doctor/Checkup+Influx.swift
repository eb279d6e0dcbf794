import GatewayAPI

/// What keeps readings from a time series database.
extension Checkup {
    /// Empty if none is configured.
    static func influx(_ influx: InfluxStatus) -> [Finding] {
        guard influx.configured else { return [] }
        let url = influx.url ?? "?"
        var all: [Finding] = []
        if let error = influx.error {
            all.append(
                Finding(
                    "influx", .problem, "nothing is sent to \(url): \(error)",
                    next: influx.next.map { "\($0); what is measured meanwhile is kept and sent later" }))
        } else if let taken = influx.taken {
            let more = influx.behind ? ", and more is on its way" : ""
            all.append(Finding("influx", .ok, "\(url) took \(influx.sent) points, the last at \(taken)\(more)"))
        } else {
            all.append(Finding("influx", .note, "\(url) was sent nothing yet", next: "look again in a moment"))
        }
        if influx.rejected > 0 {
            all.append(
                Finding(
                    "influx", .note,
                    "\(influx.rejected) points were not wanted\(influx.rejection.map { ": \($0)" } ?? "")",
                    next: "are its fields of another type, or is its retention shorter than back-fill?"))
        }
        return all
    }
}
