package import BluetoothCore
package import Domain
package import Gateway

/// The need for a Bluetooth search: which meters are missing, and whether a user is searching.
package struct DemandSource {
    private var source: (@Sendable () -> RadioDemand)?
    private var byHandUntil: MonotonicTime?

    package init() {}

    package mutating func follow(_ source: @escaping @Sendable () -> RadioDemand) { self.source = source }

    package mutating func sought(until time: MonotonicTime) { byHandUntil = time }

    package func current(at now: MonotonicTime) -> (_ adapter: MACAddress?) -> SearchDemand {
        let demand = source?() ?? RadioDemand()
        let byHandUntil = byHandUntil.flatMap { now < $0 ? $0 : nil }
        return { SearchDemand(demand, byHandUntil: byHandUntil, adapter: $0) }
    }
}

extension SearchDemand {
    fileprivate init(_ demand: RadioDemand, byHandUntil: MonotonicTime?, adapter: MACAddress?) {
        var kinds: DiscoveryKinds = []
        // Always listen to LE: a meter last used over Classic may have LE as well.
        if !demand.missing.isEmpty { kinds.formUnion(.lowEnergy) }
        if demand.missing[.spp] != nil { kinds.formUnion(.classic) }
        self.init(
            missing: kinds, missingCount: demand.missing.values.max() ?? 0, hasDistant: demand.hasDistant,
            byHandUntil: byHandUntil,
            hasFastStream: adapter.map { demand.streaming.contains($0) } ?? false)
    }
}
