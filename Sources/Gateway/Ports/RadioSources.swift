package import Domain
package import GatewayAPI

package struct RadioSources: RadioSource {
    private let sources: [any RadioSource]

    package init?(_ sources: [any RadioSource]) {
        guard !sources.isEmpty else { return nil }
        self.sources = sources
    }

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        await withDiscardingTaskGroup { group in
            for source in sources { group.addTask { await source.run(report) } }
        }
    }

    package func adapters() async -> [AdapterStatus] {
        var all: [AdapterStatus] = []
        for source in sources { all += await source.adapters() }
        return all
    }

    package func others() async -> [ScanOther] {
        var all: [ScanOther] = []
        for source in sources { all += await source.others() }
        return all.filter(\.looks_like_meter) + all.filter { !$0.looks_like_meter }
    }

    package func support() async -> SupportRadios {
        var all = SupportRadios(adapters: [], advertisements: [], strangers: 0, management: [])
        for source in sources {
            let one = await source.support()
            all.adapters += one.adapters
            all.advertisements += one.advertisements
            all.strangers += one.strangers
            all.management += one.management
        }
        return all
    }

    package func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void
    ) async {
        for source in sources { await source.follow(demand, remedied: remedied, changed: changed) }
    }

    package func demandChanged() async {
        for source in sources { await source.demandChanged() }
    }

    package func sought() async {
        for source in sources { await source.sought() }
    }
}
