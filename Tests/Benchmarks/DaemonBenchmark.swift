import Domain
import MeterCodec

/// What the daemon costs as a whole, with many meters and with fast ones.
enum DaemonBenchmark {
    private struct Row {
        var meters: Int
        /// Of one core.
        var share: Double
        var anonymous: Double
        var resident: Double
    }

    /// 1, 10 and 100 meters at 2 Hz.
    static func runScaling() throws {
        Report.title("meterd with UM25C meters at 2 Hz (12 s each, after 8 s)")
        Report.line("  meters  readings/s  CPU of a core  per meter   RssAnon       RSS")
        let rows = try [1, 10, 100].map(measure)
        let (one, ten, hundred) = (rows[0], rows[1], rows[2])
        let further = (hundred.anonymous - ten.anonymous) / 90
        Report.figure(
            "RssAnon with ten meters", "\(ten.anonymous.fixed(1)) MB", goal: (ten.anonymous <= 20, "20 MB"))
        Report.figure("RssAnon a further meter (10 to 100)", "\(further.fixed(3)) MB", goal: (further <= 0.5, "0.5 MB"))
        Report.figure("CPU with ten meters", "\((ten.share * 100).fixed(2)) %", goal: (ten.share < 0.01, "under 1 %"))
        let fromOne = (ten.share - one.share) / 9
        let fromTen = (hundred.share - ten.share) / 90
        Report.figure(
            "CPU a further meter: 1 to 10, 10 to 100",
            "\((fromOne * 100).fixed(3)) %, \((fromTen * 100).fixed(3)) %",
            goal: (fromTen <= 2 * max(fromOne, 0.0001), "linear: at most twice"))
    }

    private static func measure(_ meters: Int) throws -> Row {
        let ports = try SimulatedPorts(meters, of: .um25c, refresh: .milliseconds(500))
        let daemon = try MeterdProcess(ports: ports.paths, model: .um25c)
        try daemon.awaitData(meters)
        Clocks.pause(8)
        // Asking for the status costs the daemon, too: once before the time is taken, once after.
        let first = try daemon.readings()
        let (began, used) = (Clocks.wall, daemon.processorTime)
        Clocks.pause(12)
        let time = Clocks.wall - began
        let row = Row(
            meters: meters, share: (daemon.processorTime - used) / time, anonymous: daemon.memory("RssAnon"),
            resident: daemon.memory("VmRSS"))
        let rate = Double(try daemon.readings() - first) / (Clocks.wall - began)
        Report.line(
            "  \(String(meters).padded(8))\(rate.fixed(1).padded(12))\("\((row.share * 100).fixed(2)) %".padded(15))"
                + "\("\((row.share / Double(meters) * 100).fixed(3)) %".padded(12))"
                + "\("\(row.anonymous.fixed(1)) MB".padded(14))\(row.resident.fixed(1)) MB")
        guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
        ports.end()
        return row
    }

    /// As many readings as many fast meters can push through one daemon.
    static func runThroughput() throws {
        Report.title("meterd with fast meters (Atorch reports, 100/s from each; 8 s)")
        for meters in [100, 200] {
            let ports = try SimulatedPorts(meters, of: .atorchUSB, refresh: .milliseconds(10))
            let daemon = try MeterdProcess(ports: ports.paths, model: .atorchUSB)
            try daemon.awaitData(meters)
            Clocks.pause(2)
            let first = try daemon.readings()
            let (began, used, simulated) = (Clocks.wall, daemon.processorTime, ports.processorTime)
            Clocks.pause(8)
            let (time, spent) = (Clocks.wall - began, daemon.processorTime - used)
            let simulating = ports.processorTime - simulated
            let rate = Double(try daemon.readings() - first) / (Clocks.wall - began)
            let perCore = rate * time / spent
            Report.figure(
                "\(meters) meters", "\(rate.grouped) readings/s",
                goal: meters == 100 ? nil : (rate >= 10_000, "10,000/s, on one core"))
            Report.figure(
                "  CPU: meterd, simulators",
                "\((spent / time * 100).fixed(0)) %, \((simulating / time * 100).fixed(0)) %")
            Report.figure(
                "  readings for each second of CPU", perCore.grouped, goal: (perCore >= 10_000, "10,000"))
            guard daemon.end() else { throw BenchmarkError("meterd did not end cleanly") }
            ports.end()
        }
    }
}
