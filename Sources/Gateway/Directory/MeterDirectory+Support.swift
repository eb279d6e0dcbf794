package import GatewayAPI

extension MeterDirectory {
    package func support() async -> SupportBody {
        var all: [SupportMeter] = []
        forEach { all.append($0.support()) }
        return SupportBody(meters: all, radios: await dependencies.radios?.support())
    }
}
