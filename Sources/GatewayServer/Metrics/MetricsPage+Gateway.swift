import Domain
import GatewayAPI

extension MetricsPage {
    mutating func add(_ version: VersionBody) {
        addInfo(GatewayMetrics.build, [version.version, version.commit, version.build])
    }

    /// Adds a meter's metrics. A meter without data has no values, so that its line in a graph ends.
    ///
    /// - Parameter totals: counted totals as saved in the store. Unsaved ones may decrease after a power cut, and
    ///   `increase()` would then count the whole total as consumption.
    mutating func add(_ meter: MeterStatus, _ totals: Reading? = nil) {
        let id = [meter.id]
        addInfo(GatewayMetrics.info, id + [meter.model ?? "", meter.name ?? "", meter.transport ?? ""])
        addStates(GatewayMetrics.state, id, of: ConnectionState.self, present: meter.state)
        add(GatewayMetrics.wanted, id, meter.wanted ? 1 : 0)
        add(GatewayMetrics.age, id, meter.age_ms.map(Self.seconds))
        if meter.hasData, let reading = meter.reading?.reading {
            var counted = reading
            for quantity in [Quantity.countedEnergy, .countedCharge] where reading.supported.contains(quantity) {
                counted[quantity] = totals?[quantity]
            }
            counted.published.forEach { quantity, value in
                add(quantity.metric, id, value.map { $0 * quantity.baseUnits })
            }
            for group in meter.told?.groups ?? [] {
                let labels = id + ["\(group.index)"]
                add(GatewayMetrics.groupEnergy, labels, group.energy_Wh * Quantity.energy.baseUnits)
                add(GatewayMetrics.groupCharge, labels, group.charge_mAh * Quantity.charge.baseUnits)
            }
        }
        add(GatewayMetrics.signal, id, meter.rssi.map(Double.init))
        add(GatewayMetrics.readings, id, count: meter.counters.readings)
        add(GatewayMetrics.decodeErrors, id, count: meter.counters.resynchronisations)
        add(GatewayMetrics.skippedBytes, id, count: meter.counters.skipped_bytes)
        add(GatewayMetrics.timeouts, id, count: meter.counters.timeouts)
        add(GatewayMetrics.rejected, id, count: meter.counters.rejected)
        add(GatewayMetrics.lostSamples, id, count: meter.counters.lost_samples ?? 0)
        add(GatewayMetrics.filtered, id, count: meter.counters.filtered_samples ?? 0)
        add(GatewayMetrics.linksOpened, id, count: meter.counters.connects)
        add(GatewayMetrics.linksLost, id, count: meter.counters.disconnects)
        if let lease = meter.lease { add(lease, of: id) }
    }

    private mutating func add(_ lease: LeaseStatus, of id: [String]) {
        addStates(GatewayMetrics.leaseState, id, of: LeaseStatus.State.self, present: lease.state.rawValue)
        add(GatewayMetrics.leaseHeld, id, lease.state == .held || lease.state == .jeopardy ? 1 : 0)
        add(GatewayMetrics.leaseRemaining, id, lease.remaining_ms.map(Self.seconds))
    }

    /// Labels alerts by number and omits target addresses, because names and addresses may contain people's names.
    mutating func add(_ body: AlertsBody) {
        for alert in body.alerts where alert.state != "momentary" {
            add(GatewayMetrics.alertRaised, [alert.meter, "\(alert.id)"], alert.state == "raised" ? 1 : 0)
        }
        for target in body.targets {
            add(GatewayMetrics.noticesWaiting, [target.name], count: target.waiting)
            add(GatewayMetrics.noticesDelivered, [target.name], count: target.delivered)
            add(GatewayMetrics.noticesLost, [target.name], count: target.lost)
        }
    }

    mutating func add(_ adapter: AdapterStatus) {
        let address = [adapter.address]
        addInfo(GatewayMetrics.adapterInfo, address + [adapter.name ?? ""])
        addStates(GatewayMetrics.adapterState, address, of: AdapterStatus.State.self, present: adapter.state.rawValue)
        add(GatewayMetrics.slots, address, count: adapter.links_max)
        add(GatewayMetrics.slotsUsed, address, count: adapter.links)
        add(GatewayMetrics.heard, address, count: adapter.heard)
        add(GatewayMetrics.recoveries, address, count: adapter.recoveries)
        add(GatewayMetrics.discovery, address, Self.seconds(adapter.discovery_ms))
    }

    /// - Parameter sync: nil if the host belongs to no cloud.
    mutating func add(_ sync: SyncStatusBody?) {
        add(GatewayMetrics.joined, [], sync == nil ? 0 : 1)
        guard let sync else { return }
        add(GatewayMetrics.stream, [], sync.stream == "open" ? 1 : 0)
        add(GatewayMetrics.clockBehind, [], sync.clock_behind_ms.map(Self.seconds))
        add(GatewayMetrics.pending, count: sync.pending)
        add(GatewayMetrics.heldBack, count: sync.held_back)
        add(GatewayMetrics.parked, count: sync.parked)
        add(GatewayMetrics.failing, count: sync.failures)
        add(GatewayMetrics.halted, [], sync.halt == nil ? 0 : 1)
        let counters = sync.counters
        add(GatewayMetrics.runs, count: counters.runs)
        add(GatewayMetrics.ends, ["complete"], count: counters.complete)
        add(GatewayMetrics.ends, ["failed"], count: counters.failed)
        add(GatewayMetrics.ends, ["cancelled"], count: counters.cancelled)
        add(GatewayMetrics.polls, count: counters.polls)
        add(GatewayMetrics.pollsSkipped, count: counters.polls_skipped)
        add(GatewayMetrics.pages, count: counters.pages)
        add(GatewayMetrics.batches, count: counters.batches)
        add(GatewayMetrics.splits, count: counters.splits)
        add(GatewayMetrics.streamOpenings, count: counters.stream_openings)
        add(GatewayMetrics.refreshes, count: sync.refresh_version)
    }

    /// - Parameter bytes: size of the file; nil if unreadable.
    mutating func add(_ store: StoreStatus, bytes: Int64?) {
        add(GatewayMetrics.storeBytes, [], bytes.map(Double.init))
        add(GatewayMetrics.unsaved, count: store.unsaved)
        add(GatewayMetrics.saved, count: store.saved)
        add(GatewayMetrics.dropped, count: store.dropped)
        add(GatewayMetrics.storeFailing, [], store.error == nil ? 0 : 1)
        guard let backup = store.backup else { return }
        add(GatewayMetrics.backupAge, [], backup.age_ms.map(Self.seconds))
        add(GatewayMetrics.backupFailing, [], backup.error == nil ? 0 : 1)
    }

    /// Adds nothing if no broker is configured.
    mutating func add(_ broker: BrokerStatus) {
        guard broker.configured else { return }
        add(GatewayMetrics.brokerConnected, [], broker.connected ? 1 : 0)
        add(GatewayMetrics.brokerQueue, count: broker.queued)
        add(GatewayMetrics.brokerPublished, count: broker.published)
        add(GatewayMetrics.brokerDropped, count: broker.dropped)
        add(GatewayMetrics.brokerRefused, count: broker.refused)
        add(GatewayMetrics.brokerLinks, count: broker.links_opened)
    }

    private static func seconds(_ milliseconds: Int64) -> Double { Double(milliseconds) / 1000 }
}
