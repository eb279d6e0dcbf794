package import Domain
package import GatewayAPI

/// Sessions and `LeaseKeeper` share the session loop, so each call takes effect immediately.
extension LeaseKeeper: LinkGate {
    package nonisolated func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?) {
        assumeIsolated { $0.attached(meter, tell) }
    }

    package nonisolated func ask(
        for meter: MeterID, _ intent: LeaseIntent, over transport: LeaseTransport, isUp: Bool
    ) {
        assumeIsolated { $0.asked(for: meter, intent, over: transport, isUp: isUp) }
    }

    package nonisolated func linkUp(_ meter: MeterID) { assumeIsolated { $0.linkCameUp(meter) } }

    package nonisolated func channelClosed(_ meter: MeterID, _ end: ChannelEnd) {
        assumeIsolated { $0.react(meter) { machine, now, _ in machine.channelClosed(end, at: now) } }
    }

    package nonisolated func cancel(_ meter: MeterID) {
        assumeIsolated { $0.react(meter) { machine, now, _ in machine.unwanted(at: now) } }
    }

    package nonisolated func lease(of meter: MeterID) -> LeaseStatus {
        assumeIsolated { $0.status(of: meter) }
    }

    package nonisolated var role: HostRole { assumeIsolated { $0.roleInZone } }

    package nonisolated func searchTime(for meter: MeterID) -> Duration {
        assumeIsolated { $0.table[meter]?.searchTime ?? LeaseTiming.searchTime }
    }

    package func givenBack(_ meter: MeterID) async { await givenBack(meter, within: LeaseTiming.releasePatience) }

    package func look() async -> [MeterID: LeaseStatus] {
        await listed(within: .seconds(3))
        var leases: [MeterID: LeaseStatus] = [:]
        for lease in board.leases(at: loop.now) where lease.holder != identity.host {
            leases[lease.meter] = status(of: lease.meter)
        }
        return leases
    }
}

extension LeaseKeeper {
    /// Returns this host's meter that is leased under an id; nil if this host does not hold the lease.
    func held(_ leased: MeterID) -> (meter: MeterID, token: FencingToken)? {
        for (meter, entry) in table.entries where entry.leasedAs == leased {
            if let permit = entry.machine.permit { return (meter, permit.token) }
        }
        return nil
    }

    func leasedElsewhere(_ meter: MeterID) -> MeterID? { leaseElsewhere(of: meter)?.meter }

    func leaseElsewhere(of meter: MeterID) -> LeaseView? {
        guard let lease = board.lease(of: leasedAs(meter), at: loop.now), let holder = lease.holder,
            holder != identity.host
        else { return nil }
        return lease
    }
}

extension LeaseKeeper {
    /// All leases of the zone with a holder or a queue, without the meters' names and models.
    package func who() -> [WhoEntry] {
        let now = loop.now
        var byMeter: [MeterID: WhoEntry] = [:]
        for lease in board.leases(at: now) {
            let state: LeaseStatus.State =
                switch lease.state {
                case .free: .none
                case .held, .revoking: .held
                case .expired: .expired
                }
            let status = status(of: lease, state)
            byMeter[lease.meter] = WhoEntry(lease.meter, status, isMine: false)
        }
        for (meter, entry) in table.entries where entry.machine.permit != nil {
            byMeter[entry.leasedAs] = WhoEntry(entry.leasedAs, status(of: meter), isMine: true)
        }
        return byMeter.sorted { $0.key < $1.key }.map(\.value)
    }

    func status(of meter: MeterID) -> LeaseStatus {
        let now = loop.now
        let entry = table[meter]
        let lease = board.lease(of: entry?.leasedAs ?? meter, at: now)
        var status = status(entry, entry?.machine.phase(at: now) ?? .none, lease)
        if roleInZone == .readOnly { status.read_only = true }
        return status
    }

    private func status(_ entry: LeaseTable.Entry?, _ phase: LeaseMachine.Phase, _ lease: LeaseView?) -> LeaseStatus {
        switch phase {
        case .held: return own(entry, .held, lease)
        case .jeopardy: return own(entry, .jeopardy, lease)
        case .lost: return own(entry, .lost, lease)
        case .unleased(let refusal): return status(of: refusal == nil ? nil : lease, .unleased)
        case .requesting:
            // Between retries of its request, this host reports the cached lease's holder.
            let isElsewhere = lease?.holder.map { $0 != identity.host } ?? false
            return status(of: lease, isElsewhere ? .waiting : .requesting)
        case .waiting: return status(of: lease, .waiting)
        case .none, .barred, .stopping, .releasing:
            // A lease of this host's earlier run does not block this run, so do not report it.
            guard let lease, let holder = lease.holder, holder != identity.host else { return LeaseStatus(.none) }
            return status(of: lease, lease.state == .expired ? .expired : .elsewhere)
        }
    }

    private func own(_ entry: LeaseTable.Entry?, _ state: LeaseStatus.State, _ lease: LeaseView?) -> LeaseStatus {
        var status = status(of: lease?.holder == identity.host ? lease : nil, state)
        guard let permit = entry?.machine.permit else { return status }
        status.holder = identity.hostName
        status.holder_id = identity.host.description
        status.token = permit.token.rawValue
        status.transport = entry?.transport.rawValue
        status.policy = permit.terms.policy.rawValue
        // Shorter than the cloud's remaining time, because the holder counts from its request.
        status.remaining_ms = max(0, (permit.expiresAt - loop.now).milliseconds)
        return status
    }

    private func status(of lease: LeaseView?, _ state: LeaseStatus.State) -> LeaseStatus {
        var status = LeaseStatus(state)
        guard let lease else { return status }
        status.waiting = lease.waiting
        guard let holder = lease.holder else { return status }
        status.holder = lease.holderName
        status.holder_id = holder.description
        status.token = lease.token.rawValue
        status.transport = lease.transport?.rawValue
        status.policy = lease.terms.policy.rawValue
        status.remaining_ms = lease.remaining.milliseconds
        status.since = lease.acquiredAt
        return status
    }
}

extension WhoEntry {
    fileprivate init(_ meter: MeterID, _ lease: LeaseStatus, isMine: Bool) {
        self.init(meter: meter.description, state: lease.state.rawValue, mine: isMine, waiting: lease.waiting)
        holder = lease.holder
        holder_id = lease.holder_id
        transport = lease.transport
        remaining_ms = lease.remaining_ms
        token = lease.token
        policy = lease.policy
        since = lease.since
    }
}
