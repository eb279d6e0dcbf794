package import CloudAPI
package import Domain
import Logging

/// Readings on their way from the host that has a meter to those that watch it (Docs/Relay.md).
extension CloudService {
    /// What happens with a meter from now on: first who has it, then its readings.
    ///
    /// - Parameter wantsAll: every reading, even of a meter whose readings are folded otherwise.
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
        // The lease may have changed since it was read: then this is news to all who watch.
        relayLease(standing.record, of: standing.meter, in: zone)
        return subscription
    }

    /// Passes on a batch of readings, if it comes from the host that has the meter.
    ///
    /// - Throws: `leaseLost` if the token is not the lease's, `limitExceeded` and `badRequest` for a batch that no holder
    ///   sends.
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
            // A holder that hears that nobody watches sends nothing more.
            guard post.knowsWhoWatches else { throw .justStarted }
            return RelayAnswer(interest: 0)
        }
        var lease = relay.lease(of: place)
        if lease?.isHeld(by: member.host, session, request.token) != true {
            // A lease that was granted a moment ago, perhaps through another copy of this cloud.
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

    /// The lease of a meter that may be watched was read, or changed: tells those who watch it, and its holder.
    func relayLease(_ record: LeaseRecord?, of meter: String, in zone: Zone) {
        let place = MeterPlace(zone: zone.name, meter: meter)
        guard let (isNews, interest) = relay.update(record, of: place, at: clock.now()) else { return }
        if isNews { relay.tell(RelayEventBody(holder: body(of: record, meter: meter, in: zone)), of: place) }
        guard let interest else { return }
        hub.tellInterest(
            in: meter, for: RelayTimes.interest, wantsAll: interest.wantsAll, to: interest.holder, zone: zone.name)
    }

    /// A host listens from now on: tells it which of its meters are watched.
    func tellInterests(to host: HostID, in zone: String) {
        for (place, wantsAll) in relay.watched(of: host, in: zone) {
            hub.tellInterest(in: place.meter, for: RelayTimes.interest, wantsAll: wantsAll, to: host, zone: zone)
        }
    }

    /// Tells the holders of watched meters again that somebody watches, whoever they are by now.
    func renewInterest() async {
        relay.passed(clock.now())
        let due = Dictionary(grouping: relay.due(at: clock.now()), by: \.zone)
        await forEachZone(due.keys.sorted()) { zone in
            for place in due[zone] ?? [] { await self.lookAtHolder(of: place) }
        }
    }

    /// Reads who has a watched meter, and tells that host that it is watched, if it is due.
    func lookAtHolder(of place: MeterPlace) async {
        do {
            let standing = try await engine.standing(of: place.meter, in: place.zone)
            guard standing.meter == place.meter, let zone = try await engine.zone(place.zone) else {
                // Its id has become another one's alias: those who watch it find the meter anew.
                return relay.end(place)
            }
            relayLease(standing.record, of: place.meter, in: zone)
        } catch {
            logger.warning(
                "who has a watched meter is not known", metadata: ["meter": "\(place.meter)", "error": "\(error)"])
        }
    }
}

/// The times of the relay in the cloud. Hosts have their own (RelayCore), as the two need not be of one version.
enum RelayTimes {
    /// For how long a holder sends readings after it was told that somebody watches.
    static let interest = Duration.seconds(30)
    /// How often it is told again. Two of these words may get lost.
    static let interestRepeat = Duration.seconds(10)
}

extension LeaseRecord {
    /// Whether a host has the lease, in this session and under this token.
    package func isHeld(by host: HostID, _ session: SessionID, _ token: UInt64) -> Bool {
        holder?.host == host && holder?.session == session && self.token.rawValue == token
    }
}

extension RelayEventBody.Batch {
    /// - Throws: if it is larger than what a holder sends, or says what no meter measures.
    func check() throws(CloudFailure) {
        guard readings.count <= CloudLimits.readingsPerBatch else {
            throw CloudFailure(
                .limitExceeded,
                "\(readings.count) readings are too many for one batch; send "
                    + "\(CloudLimits.readingsPerBatch)")
        }
        guard missed >= 0, missed <= Int32.max else {
            throw CloudFailure(.badRequest, "\(missed) readings cannot be missing")
        }
        for (text, what) in [(model, "a model's name"), (state, "a state's name")] where text?.utf8.count ?? 0 > 64 {
            throw CloudFailure(.badRequest, "\(what) of \(text?.utf8.count ?? 0) bytes is too long")
        }
        for reading in readings { try reading.check() }
    }
}

extension RelayReadingBody {
    fileprivate func check() throws(CloudFailure) {
        guard (0...60_000).contains(age) else {
            throw CloudFailure(.badRequest, "a reading's age of \(age) ms is not between 0 and a minute")
        }
        guard (count ?? 2) >= 2, (count ?? 2) <= Int32.max else {
            throw CloudFailure(.badRequest, "a reading cannot be made of \(count ?? 0) measurements")
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
