package import CloudAPI
package import Domain
import Logging

/// Relay of readings from a meter's holder to its watchers (Docs/Relay.md).
extension CloudService {
    /// Returns the events of a meter: first its holder, then its readings.
    ///
    /// - Parameter wantsAll: whether to send every reading, even if the holder would otherwise combine several.
    package func watch(
        _ meter: String, wantsAll: Bool, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RelaySubscription {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone)
        let asked = try Self.meter(meter)
        let standing = try await ask { try await engine.standing(of: asked, in: zone.name) }
        let place = MeterPlace(zone: zone.name, meter: standing.meter)
        let subscription = try relay.watch(
            place, credential: member.credential, wantsAll: wantsAll,
            first: RelayEventBody(holder: body(of: standing.record, meter: standing.meter, in: zone)))
        relayLease(standing.record, of: standing.meter, in: zone)
        return subscription
    }

    /// Forwards a batch of readings from the meter's holder.
    ///
    /// - Throws: `leaseLost` if the fencing token does not match the lease; `limitExceeded` or `badRequest` for a too
    ///   large or invalid batch.
    package func relay(
        _ request: RelayRequest, of meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RelayAnswer {
        let member = try member(principal, of: zone)
        let session = try Self.session(request.session)
        let place = MeterPlace(zone: zone, meter: try Self.meter(meter))
        var batch = RelayEventBody.Batch(
            epoch: "", token: request.token, holderID: member.host.description, holderName: member.name,
            number: request.number, missed: request.missed, readings: request.readings)
        batch.model = request.model
        batch.state = request.state
        batch.shared = request.shared
        try batch.check()
        guard relay.isWatched(place) else {
            // Until the watchers at the other replicas are known, refuse: an answer without interest would stop the
            // holder from sending.
            guard post.knowsWhoWatches else { throw .justStarted }
            return RelayAnswer(interest: 0)
        }
        var lease = relay.lease(of: place)
        if lease?.isHeld(by: member.host, session, request.token) != true {
            // Read the lease again: another replica may just have granted it.
            lease = try await ask { try await engine.standing(of: place.meter, in: zone) }.record
            relayLease(lease, of: place.meter, in: try await existing(zone))
        }
        guard lease?.isHeld(by: member.host, session, request.token) == true else {
            if let told = relay.tellRefusal(of: member.name, of: place, at: clock.now()) { passOn(told, of: place) }
            throw CloudFailure(
                .leaseLost,
                "the readings of \(place.meter) are refused: \(member.name) does not have its lease under the token "
                    + "\(request.token)")
        }
        batch.epoch = try await ask { try await engine.epoch }
        let event = RelayEventBody(batch: batch)
        relay.tell(event, of: place)
        passOn(event, of: place)
        return RelayAnswer(interest: RelayTimes.interest.milliseconds)
    }

    func relayLease(_ record: LeaseRecord?, of meter: String, in zone: Zone) {
        let place = MeterPlace(zone: zone.name, meter: meter)
        guard let (isNews, interest) = relay.update(record, of: place, at: clock.now()) else { return }
        if isNews { relay.tell(RelayEventBody(holder: body(of: record, meter: meter, in: zone)), of: place) }
        guard let interest else { return }
        hub.tellInterest(
            in: meter, for: RelayTimes.interest, wantsAll: interest.wantsAll, to: interest.holder, zone: zone.name)
    }

    func tellInterests(to host: HostID, in zone: String) {
        for (place, wantsAll) in relay.watched(of: host, in: zone) {
            hub.tellInterest(in: place.meter, for: RelayTimes.interest, wantsAll: wantsAll, to: host, zone: zone)
        }
    }

    func renewInterest() async {
        relay.passed(clock.now())
        let due = Dictionary(grouping: relay.due(at: clock.now()), by: \.zone)
        await forEachZone(due.keys.sorted()) { zone in
            for place in due[zone] ?? [] { await self.lookAtHolder(of: place) }
        }
    }

    /// Reads the meter's lease, and sends its changes to the watchers. If due, sends the holder an interest event.
    func lookAtHolder(of place: MeterPlace) async {
        do {
            let standing = try await engine.standing(of: place.meter, in: place.zone)
            guard standing.meter == place.meter, let zone = try await engine.zone(place.zone) else {
                // The id has become an alias. End the watchers' streams, so that hosts subscribe again under the
                // canonical id.
                return relay.end(place)
            }
            relayLease(standing.record, of: place.meter, in: zone)
        } catch {
            logger.warning(
                "lease of a watched meter not read", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
        }
    }
}

/// Relay times in the cloud. Hosts have their own (RelayCore), because their version may differ.
enum RelayTimes {
    /// Time for which a holder sends readings after each interest event.
    static let interest = Duration.seconds(30)
    /// Interval of interest events. Two in a row may get lost.
    static let interestRepeat = Duration.seconds(10)
}

extension LeaseRecord {
    package func isHeld(by host: HostID, _ session: SessionID, _ token: UInt64) -> Bool {
        holder?.host == host && holder?.session == session && self.token.rawValue == token
    }
}

extension RelayEventBody.Batch {
    /// Throws if the batch is larger than a holder sends, or has impossible values.
    func check() throws(CloudFailure) {
        guard readings.count <= CloudLimits.readingsPerBatch else {
            throw CloudFailure(
                .limitExceeded,
                "\(readings.count) readings are too many for one batch; send "
                    + "\(CloudLimits.readingsPerBatch)")
        }
        guard missed >= 0, missed <= Int32.max else {
            throw CloudFailure(.badRequest, "a number of \(missed) missed readings is out of range")
        }
        // Two calls instead of a loop, which could make builds of one commit differ (see `Duration.shortText`).
        try Self.check(model, "a model's name")
        try Self.check(state, "a state's name")
        for reading in readings { try reading.check() }
    }

    private static func check(_ text: String?, _ what: String) throws(CloudFailure) {
        guard let count = text?.utf8.count, count > 64 else { return }
        throw CloudFailure(.badRequest, "\(what) of \(count) bytes is too long")
    }
}

extension RelayReadingBody {
    fileprivate func check() throws(CloudFailure) {
        guard (0...60_000).contains(age) else {
            throw CloudFailure(.badRequest, "a reading's age of \(age) ms is not between 0 and a minute")
        }
        guard (count ?? 2) >= 2, (count ?? 2) <= Int32.max else {
            throw CloudFailure(.badRequest, "a count of \(count ?? 0) measurements is out of range; send 2 or more")
        }
        for values in [values, least ?? [:], greatest ?? [:]] {
            guard values.count <= CloudLimits.quantitiesPerReading else {
                throw CloudFailure(
                    .limitExceeded,
                    "\(values.count) quantities are too many for one reading; send "
                        + "\(CloudLimits.quantitiesPerReading)")
            }
            for (key, value) in values {
                guard key.utf8.count <= 64 else {
                    throw CloudFailure(.badRequest, "a quantity's name of \(key.utf8.count) bytes is too long")
                }
                guard value?.isFinite ?? true else {
                    throw CloudFailure(.badRequest, "\(key.prefix(64)) is not a finite number")
                }
            }
        }
    }
}
