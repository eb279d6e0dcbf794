import Domain
import MeterCodec

/// What it takes to watch meters that another host has (Docs/Relay.md).
enum RelayBenchmark {
    static func run() async throws {
        try await RelayDelay.run()
        try await RelayLoad.run()
        try await RelayCrowd.run()
        try await RelayHolder.run()
    }
}

/// Two real hosts of one cloud: one has simulated meters, the other has none and can look at them.
final class RelayHosts: Sendable {
    let holder: MeterdProcess
    let observer: MeterdProcess
    let meters: [MeterID]
    private let ports: SimulatedPorts

    /// Until the observer knows who has the meters.
    ///
    /// - Parameters:
    ///   - count: of UM25C, each of which the holder asks twice a second.
    ///   - refresh: how often a meter renews its values.
    ///   - copies: of the cloud: the one at which the holder is, and the observer's.
    init(
        meters count: Int, refresh: Duration, copies: (holder: MetercloudProcess, observer: MetercloudProcess)
    ) throws {
        meters = (0..<count).map { .mac(MACAddress(bits: 0x02AB_CDEF_0001 + UInt64($0))) }
        ports = try SimulatedPorts(count, of: .um25c, refresh: refresh)
        holder = try MeterdProcess(ports: ports.paths, model: .um25c, ids: meters, name: "alpha")
        observer = try MeterdProcess(ports: [], model: .um25c, name: "beta")
        try holder.awaitData(count)
        try observer.awaitData(0)
        try copies.holder.join(holder)
        try copies.observer.join(observer, tokenOf: copies.holder)
        try observer.awaitHeld(count)
    }

    /// Where a host's readings of a meter come from.
    ///
    /// - Parameter wantsAll: as `meterctl watch --all`.
    static func source(of meter: MeterID, at client: LoadClient, wantsAll: Bool = false) -> OpenStreams.Source {
        OpenStreams.Source(
            client: client,
            path: "/v1/meters/\(meter.description.percentEncoded)/readings\(wantsAll ? "?all=true" : "")")
    }

    func end() throws {
        guard observer.end(), holder.end() else { throw BenchmarkError("meterd did not end cleanly") }
        ports.end()
    }
}
