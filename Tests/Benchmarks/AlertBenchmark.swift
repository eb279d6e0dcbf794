import Domain
import MeterCodec

/// What it adds to meterd's work that it watches its meters for as many rules as it takes.
enum AlertBenchmark {
    private static let meters = 10
    private static let rounds = 3
    /// Of one measurement.
    private static let seconds = 15.0
    /// Of each meter: every kind of condition that looks at readings, none of which comes true.
    private static let conditions =
        [Quantity.current, .voltage, .power, .temperature].flatMap { quantity in
            let (word, unit) = (quantity.alertWord, quantity.unit)
            return [
                "\(word) > 900\(unit) for 2m", "\(word) > 900\(unit)", "\(word) > 900\(unit) hysteresis 1\(unit)",
                "\(word) rate > 900\(unit)/s",
            ]
        } + ["stale for 30s", "state is offline for 1m", "energy > 90000Wh", "charge > 900000mAh"]

    static func run() throws {
        Report.title("alerts: \(meters) meters at 2 Hz (\(rounds) rounds of \(seconds.fixed(0)) s each)")
        let ports = try SimulatedPorts(2 * meters, of: .um25c, refresh: .milliseconds(500))
        let alone = try MeterdProcess(ports: Array(ports.paths.prefix(meters)), model: .um25c)
        let watching = try MeterdProcess(ports: Array(ports.paths.suffix(meters)), model: .um25c)
        for daemon in [alone, watching] { try daemon.awaitData(meters) }
        for meter in 0..<meters {
            for condition in conditions { try watching.addAlert("m\(meter)", condition) }
        }
        Clocks.pause(8)
        let shares = (0..<rounds).map { _ in MeterdProcess.shares(of: [alone, watching], for: seconds) }
        let (base, watched) = (shares.map { $0[0] }.median, shares.map { $0[1] }.median)
        Report.figure("CPU of meterd without a rule", "\((base * 100).fixed(2)) % of a core")
        Report.figure(
            "  with \(meters * conditions.count) rules", "\((watched * 100).fixed(2)) %",
            goal: (watched - base < 0.01, "adds under 1 % of a core"))
        for daemon in [alone, watching] {
            guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
        }
        ports.end()
    }
}
