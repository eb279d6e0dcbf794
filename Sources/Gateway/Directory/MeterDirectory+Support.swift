package import GatewayAPI

extension MeterDirectory {
    /// What a maintainer asks for.
    package func support() async -> SupportBody {
        var all: [SupportMeter] = []
        for (_, session) in sessions.sorted(by: { $0.key < $1.key }) { all.append(await session.support()) }
        return SupportBody(meters: all, radios: await edges.radios?.support())
    }
}
