import BluetoothCore
package import Gateway
import LinuxIO
import MeterModel

/// Passes to the machines what meters and people need from the search.
extension Radios {
    package func follow(_ demand: @escaping @Sendable () -> RadioDemand) {
        self.demand = demand
        lookAtDemand()
    }

    package func demandChanged() { lookAtDemand() }

    package func sought() {
        byHandUntil = loop.now + configuration.byHand
        lookAtDemand()
    }

    /// Later, because the meters have not heard of the present event yet.
    func lookAtDemandSoon() {
        loop.execute { [weak self] in self?.assumeIsolated { $0.lookAtDemand() } }
    }

    func lookAtDemand() {
        let now = loop.now
        let demand = demand?() ?? RadioDemand()
        for adapter in present {
            let new = SearchDemand(
                demand, byHandUntil: byHandUntil.flatMap { now < $0 ? $0 : nil }, adapter: adapter.address)
            guard new != adapter.machine.demand else { continue }
            update(adapter.index, at: now) { $0.demandChanged(new, at: now) }
        }
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
