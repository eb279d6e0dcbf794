import Domain

/// What it adds to the work of the host that has a meter that another host watches it.
enum RelayHolder {
    private static let rounds = 2
    private static let seconds = 20.0
    /// From the beginning of a watch until the holder is left alone, where the watch has ended meanwhile: looking at a
    /// meter keeps the interest in it (`RelayTiming.interest`). With some to spare.
    private static let quietAfter = 32.0

    /// A cloud of its own for each holder, so that its page of metrics counts that holder's requests alone.
    private struct House {
        let cloud: MetercloudProcess
        let hosts: RelayHosts

        init() throws {
            cloud = try MetercloudProcess(try TemporaryFolder())
            hosts = try RelayHosts(meters: 1, refresh: .milliseconds(500), copies: (cloud, cloud))
        }

        var batches: Int { get async throws { try await cloud.requests("relayReadings") } }
    }

    static func run() async throws {
        Report.title(
            "The holder of one UM25C at 2 Hz, watched and not (\(rounds) rounds of \(seconds.fixed(0)) s, two holders in turn)"
        )
        let houses = try [House(), House()]
        Clocks.pause(8)
        var (alone, watched, sentAlone, sent) = (0.0, 0.0, 0, 0)
        for house in houses { sentAlone += try await house.batches }
        for round in 0..<rounds {
            let began = Clocks.wall
            let (quiet, seen) = (houses[(round + 1) % 2], houses[round % 2])
            let before = (try await quiet.batches, try await seen.batches)
            let used = try await share(quiet.hosts, whileWatched: seen.hosts)
            alone += used.alone / Double(rounds)
            watched += used.watched / Double(rounds)
            sentAlone += try await quiet.batches - before.0
            sent += try await seen.batches - before.1
            if round < rounds - 1 { try await Clocks.wait(until: began + quietAfter) }
        }
        for house in houses {
            try house.hosts.end()
            house.cloud.end()
        }
        Report.figure("CPU of meterd, not watched", "\((alone * 100).fixed(3)) % of a core")
        Report.figure(
            "  watched by another host", "\((watched * 100).fixed(3)) %, \((watched / alone).fixed(2)) x",
            goal: (watched <= 1.1 * alone, "adds under 10 %"))
        Report.figure("  batches while watched", "\(sent)")
        Report.figure("  batches while not watched", "\(sentAlone)", goal: (sentAlone == 0, "none"))
    }

    /// Both at the same time, so that whatever the machine does meanwhile is done to both. Of one core.
    private static func share(
        _ quiet: RelayHosts, whileWatched seen: RelayHosts
    ) async throws -> (alone: Double, watched: Double) {
        let client = seen.observer.client(connections: 1)
        let lines = CallCounter()
        let streams = OpenStreams { _, _ in lines.add() }
        let used = try await streams.whileOpen(seen.meters.map { RelayHosts.source(of: $0, at: client) }) {
            try await Clocks.wait(until: Clocks.wall + 2)
            let (began, before) = (Clocks.wall, (quiet.holder.processorTime, seen.holder.processorTime))
            try await Clocks.wait(until: began + seconds)
            let time = Clocks.wall - began
            return (
                alone: (quiet.holder.processorTime - before.0) / time,
                watched: (seen.holder.processorTime - before.1) / time
            )
        }
        try await client.shutdown()
        guard lines.value > 1 else { throw BenchmarkError("nothing was seen of the meter that is watched") }
        return used
    }
}
