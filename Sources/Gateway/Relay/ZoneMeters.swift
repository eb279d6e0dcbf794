package import Domain
package import GatewayAPI

/// Meters of the whole zone, for this host's users (Docs/Relay.md).
///
/// MQTT and metrics report only this host's own meters (`MeterDirectory.status`), so that each meter is reported once.
package actor ZoneMeters {
    /// Maximum wait for the first reading of a newly watched meter.
    package static let patience = Duration.seconds(1)

    private let directory: MeterDirectory
    private let settings: SettingsService?
    private let keeper: @Sendable () async -> LeaseKeeper?
    private let relay: @Sendable () async -> RelayWatcher?
    private let commander: @Sendable () async -> RelayCommander?
    private var names: (version: UInt64, of: [String: String])?

    /// The closures return parts of the current cloud membership, or nil without a cloud.
    package init(
        directory: MeterDirectory, settings: SettingsService? = nil,
        keeper: @escaping @Sendable () async -> LeaseKeeper? = { nil },
        relay: @escaping @Sendable () async -> RelayWatcher? = { nil },
        commander: @escaping @Sendable () async -> RelayCommander? = { nil }
    ) {
        self.directory = directory
        self.settings = settings
        self.keeper = keeper
        self.relay = relay
        self.commander = commander
    }

    /// Returns this host's meters first, then those known only from other hosts.
    package func status(within patience: Duration = ZoneMeters.patience) async -> [MeterStatus] {
        await complete(await directory.status(), hasForeign: true, within: patience)
    }

    /// Returns the status of this host's meters marked as changed, or of all meters of the zone. Only for the live
    /// feed: removes the marks (`MeterDirectory.takeStatus`).
    package func takeStatus(ofAll isAll: Bool) async -> [MeterStatus] {
        let own = await directory.takeStatus(ofAll: isAll)
        return own.isEmpty && !isAll ? [] : await complete(own, hasForeign: isAll, within: .zero)
    }

    private func complete(_ own: [MeterStatus], hasForeign: Bool, within patience: Duration) async -> [MeterStatus] {
        guard let keeper = await keeper() else { return own }
        let listed = Set(own.map(\.id))
        let leases = await keeper.who().filter { !$0.mine && $0.holder != nil }
        guard !leases.isEmpty else { return own }
        var all = own
        let foreign = hasForeign ? leases.filter { !listed.contains($0.meter) } : []
        let names = foreign.isEmpty ? [:] : await namesOfMeters()
        for lease in foreign { all.append(await row(of: lease, name: names[lease.meter], keeper)) }
        return await withReadings(all, leases, within: patience)
    }

    /// - Throws: `noSuchMeter` or `ambiguousMeter`.
    package func status(of reference: String) async throws(GatewayError) -> MeterStatus {
        guard let keeper = await keeper() else { return try await directory.session(reference).status() }
        let (id, session) = try await meter(reference)
        let leases = await keeper.who().filter { !$0.mine && $0.holder != nil }
        let elsewhere = leases.first { $0.meter == id.description }
        var status = await session?.status()
        if status == nil, let elsewhere {
            status = await row(of: elsewhere, name: await namesOfMeters()[elsewhere.meter], keeper)
        }
        guard let status else { return try await directory.session(reference).status() }
        guard elsewhere != nil else { return status }
        return await withReadings([status], leases, within: Self.patience)[0]
    }

    /// Returns a meter's readings from this host or the holder.
    ///
    /// - Parameter wantsAll: false to get means of several readings.
    /// - Throws: `noSuchMeter`, `ambiguousMeter`; `refused` if the holder does not share.
    package func readings(
        of reference: String, wantsAll: Bool = false
    ) async throws(GatewayError) -> MeterReadings {
        guard let keeper = await keeper(), let relay = await relay() else {
            return .own(try await directory.session(reference).feed(ofAll: wantsAll).subscribe())
        }
        let (id, session) = try await meter(reference)
        let leased = await keeper.leasedElsewhere(id)
        if session == nil, leased == nil { _ = try await directory.session(reference) }
        if let leased, await session?.isLinked != true {
            _ = await relay.latest(of: [leased], within: Self.patience)
            if let holder = await relay.unshared(among: [leased])[leased] {
                throw GatewayError(
                    .refused, "\(holder) has \(reference) and does not share its readings",
                    next: "look there, or set [relay] share = true in its configuration")
            }
        }
        return .anywhere(
            MeterReadings.Places(
                here: { [directory] in await directory.readings(of: id, all: wantsAll) },
                elsewhere: {
                    guard let leased = await keeper.leasedElsewhere(id) else { return nil }
                    return await relay.watch(leased, wantsAll: wantsAll)
                },
                isOver: { [directory] in await directory.isShuttingDown }, pause: { await relay.pause(.seconds(1)) }))
    }

    /// Sends an action to the holder of a meter.
    ///
    /// - Returns: the holder and its API's answer; nil if this host must perform the action itself.
    /// - Throws: `noSuchMeter`, `ambiguousMeter`; `refused` by the holder, or if nothing was done; `timedOut` if the
    ///   outcome is unknown.
    package func order(
        _ action: RelayAction, of reference: String
    ) async throws(GatewayError) -> (holder: String, result: String?)? {
        guard let commander = await commander() else { return nil }
        let (id, session) = try await meter(reference)
        // If this host also has a link to the meter, users mean this link.
        if await session?.isLinked == true { return nil }
        return try await commander.order(action, of: id, named: reference)
    }

    private func meter(_ reference: String) async throws(GatewayError) -> (id: MeterID, session: DeviceSession?) {
        let id = try await directory.wanted(reference)
        return (id, directory.meters.session(of: id))
    }

    private func row(of lease: WhoEntry, name: String?, _ keeper: LeaseKeeper) async -> MeterStatus {
        let id = MeterID(lease.meter)
        var status = MeterStatus(
            id: lease.meter, state: ConnectionState.offline.rawValue, since: lease.since ?? "",
            local_only: id?.isLocalOnly ?? false, wanted: false, counters: MeterStatus.Counters())
        status.name = name
        if let id { status.lease = await keeper.status(of: id) }
        return status
    }

    private func withReadings(
        _ meters: [MeterStatus], _ leases: [WhoEntry], within patience: Duration
    ) async -> [MeterStatus] {
        guard let relay = await relay() else { return meters }
        let elsewhere = Set(leases.map(\.meter))
        let wanted = meters.filter { elsewhere.contains($0.id) }.compactMap { MeterID($0.id) }
        let latest = await relay.latest(of: wanted, within: patience)
        let unshared = await relay.unshared(among: wanted)
        let states = await relay.states(of: wanted)
        return meters.map { meter in
            guard let id = MeterID(meter.id) else { return meter }
            var meter = meter
            if unshared[id] != nil { meter.unshared = true }
            meter.holder_state = states[id]
            guard let (reading, age) = latest[id],
                age.milliseconds <= meter.age_ms ?? .max
            else { return meter }
            meter.reading = ReadingBody(reading.reading)
            meter.age_ms = age.milliseconds
            meter.measured_by = reading.origin?.holder
            meter.model = meter.model ?? reading.origin?.model
            return meter
        }
    }

    private func namesOfMeters() async -> [String: String] {
        guard let settings else { return [:] }
        let version = await settings.refreshVersion
        if let names, names.version == version { return names.of }
        guard let meters = try? await settings.meters() else { return names?.of ?? [:] }
        let read = Dictionary(
            meters.compactMap { meter in meter.name.map { (meter.id.description, $0) } },
            uniquingKeysWith: { first, _ in first })
        names = (version, read)
        return read
    }
}
