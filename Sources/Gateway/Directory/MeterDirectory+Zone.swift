import Domain
import GatewayAPI

/// Commands for a meter that is connected to another host and known here only from the zone
/// (Docs/Operating.md#a-meter-that-is-not-heard-here).
extension MeterDirectory {
    func wanted(_ reference: String) async throws(GatewayError) -> MeterID {
        if let exact = exactly(reference) { return exact }
        let here = names
        if let exact = MeterReference.exactly(reference, among: here) { return exact }
        let known = try await allNames()
        if let exact = MeterReference.exactly(reference, among: known) { return canonical(exact) }
        do {
            return try MeterReference.resolve(reference, among: here, models: models)
        } catch {
            guard error.code == .noSuchMeter else { throw error }
            return try await resolve(reference, amongLeasedAnd: known)
        }
    }

    /// Resolves a meter, even one known only from another host's lease.
    func resolve(
        _ reference: String, amongLeasedAnd known: [(id: MeterID, name: String?)]
    ) async throws(GatewayError) -> MeterID {
        let listed = Set(known.map(\.id))
        let leased = await dependencies.gate?.look().keys.filter { !listed.contains($0) } ?? []
        return canonical(
            try MeterReference.resolve(reference, among: known + leased.map { ($0, nil) }, models: models))
    }

    /// Returns `held` if another host has the meter and this host has never seen it.
    func refusal(elsewhere reference: String) async -> GatewayError? {
        // If the store fails, another host's meter is found only by its id.
        let known = (try? await allNames()) ?? names
        guard let gate = dependencies.gate,
            let id = (try? MeterReference.resolve(reference, among: known)) ?? MeterID(reference)
        else { return nil }
        let lease = gate.lease(of: canonical(id))
        guard lease.state == .elsewhere, let holder = lease.holder else { return nil }
        let argument = reference.shellWord
        let watch = "meterctl watch \(argument) shows it here"
        return GatewayError(
            .held, "\(holder) has \(reference), so only \(holder) can do that",
            next: gate.role == .readOnly ? watch : "\(watch); connect \(argument) --takeover takes it from there")
    }

    /// - Throws: `permission` if a read-only host would take another host's meter or wait for it.
    func checkRole(_ id: MeterID, _ request: ConnectRequest) async throws(GatewayError) {
        guard request.takeover == true || request.queue_ms != nil, request.no_lease != true,
            let gate = dependencies.gate, gate.role == .readOnly, let lease = await gate.look()[id],
            let holder = lease.holder, lease.state != .expired
        else { return }
        throw .mayOnlyLook(
            request.takeover == true
                ? "it does not take \(id) over from \(holder)" : "it does not wait for \(id), which \(holder) has")
    }

    /// Returns whether to request an absent meter's lease and then search for the meter.
    ///
    /// - Throws: `held` with the holder; `refused` if the search needs a user's confirmation.
    func mustBeSought(_ id: MeterID, _ request: ConnectRequest) async throws(GatewayError) -> Bool {
        let session = meters.session(of: id)
        if await session?.isPresent == true { return false }
        let isSure = request.yes == true
        let isMet = session != nil
        guard let gate = dependencies.gate, request.no_lease != true, let lease = await gate.look()[id],
            lease.state != .none
        else {
            if !isMet, !isSure { throw neverMet(id) }
            return false
        }
        await lookAtPort(of: id)
        if await session?.isPresent == true { return false }
        guard request.takeover == true || request.queue_ms != nil else {
            if lease.state == .expired, isMet || isSure { return false }
            let rest = lease.remaining_ms.map { Duration.milliseconds($0) }
            throw held(id, LinkRefusal(reason: .held, holder: lease.holder, remaining: rest), nil)
        }
        if lease.transport == LeaseTransport.usb.rawValue { throw pluggedIn(id, at: lease) }
        if !isMet, !isSure { throw neverMet(id) }
        if request.takeover == true, !isSure, await session?.wasNotHeard == true {
            throw GatewayError(
                .refused, "\(id) was taken over a short while ago and not heard here",
                next: "bring it into range; --yes takes it from \(lease.holder ?? "its holder") all the same")
        }
        return true
    }

    /// Checks a declared port now, because the regular check runs only once a second.
    private func lookAtPort(of id: MeterID) async {
        guard let meter = known[id], meter.isDeclared, let link = meter.link, let path = link.node,
            dependencies.ports.isThere(path), let session = meters.session(of: id), await !session.isPresent
        else { return }
        await handle(.appeared(Sighting(id: id, model: meter.model, name: nil, link: link)))
    }

    /// Time limit for getting a lease: the requested queue time. Default: the longest time until a lease ends, because
    /// a take-over may wait for that.
    static func askingTime(_ request: ConnectRequest) -> Duration {
        let longest = LeaseTerms(
            timeToLive: LeaseTerms.timeToLiveRange.upperBound, lockDelay: .zero, policy: .strict)
        return request.queue_ms.map { .wait($0) } ?? longest.over
    }

    func anySession(of id: MeterID) async throws(GatewayError) -> DeviceSession {
        if meters.session(of: id) == nil { try await open(known[id] ?? KnownMeter(id: id)) }
        guard let session = meters.session(of: id) else { throw shuttingDown }
        return session
    }

    private func neverMet(_ id: MeterID) -> GatewayError {
        GatewayError(
            .refused, "this host has never met \(id), which other hosts of its cloud know",
            next: "if it can be heard or plugged in here: meterctl connect \(id) --yes")
    }

    private func pluggedIn(_ id: MeterID, at lease: LeaseStatus) -> GatewayError {
        GatewayError(
            .held, "\(id) is plugged in at \(lease.holder ?? "another host"), and not here",
            next: "plug it in here, or use it there")
    }
}
