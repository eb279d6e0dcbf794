package import CloudAPI
import LeaseCore
import Logging
import MeterModel

extension CloudService {
    /// Waits for a meter. When it can be had, the host's event stream brings an `offer`, which it answers with an
    /// acquire within `LeaseRules.reservation`. Calling it again changes nothing.
    ///
    /// - Throws: `badRequest` where no event stream of the host is open: nobody could tell it that its turn has come;
    ///   `rateLimited` where too many wait.
    package func enqueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone)
        let meter = try await canonical(try Self.meter(meter), in: zone.name)
        guard hub.isListening(member.host, in: zone.name) else {
            throw CloudFailure(
                .badRequest, "a host that waits for \(meter) has its event stream open; open it, then queue")
        }
        let place = WaitingLines.Meter(zone: zone.name, id: meter)
        let waiter = WaitingLine.Waiter(host: member.host, name: member.name)
        let (isFull, isNews) = lines.change(place) { line -> (Bool, Bool) in
            guard !line.isFull || line.waiters.contains(waiter) else { return (true, false) }
            return (false, line.join(waiter))
        }
        guard !isFull else {
            throw CloudFailure(
                .rateLimited, "\(WaitingLine.waitersMax) hosts wait for \(meter); ask again later",
                retryAfter: .seconds(60))
        }
        return try await lineChanged(place, isNews: isNews, in: zone, for: member)
    }

    package func leaveQueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody {
        let member = try member(principal, of: zone)
        let zone = try await existing(zone)
        let meter = try await canonical(try Self.meter(meter), in: zone.name)
        let place = WaitingLines.Meter(zone: zone.name, id: meter)
        let isNews = lines.change(place) { $0.leave(member.host) }
        return try await lineChanged(place, isNews: isNews, in: zone, for: member)
    }

    private func lineChanged(
        _ place: WaitingLines.Meter, isNews: Bool, in zone: Zone, for member: Member
    ) async throws(CloudFailure) -> LeaseBody {
        let record = try await ask { try await engine.lease(of: place.id, in: zone.name) }
        if isNews {
            tell(record, meter: place.id, in: zone)
            await settleLine(of: place)
        }
        return body(of: record, meter: place.id, in: zone, for: member.host)
    }

    /// Makes the line what it should be now: without hosts that do not listen any more, and with an offer to the first
    /// where the meter can be had. Called after each change, and each second.
    ///
    /// Two of these at once, or one with a lease that has just changed, do no harm: an offer decides nothing, the acquire
    /// that answers it does.
    func settleLine(of place: WaitingLines.Meter) async {
        let zone: Zone?
        let record: LeaseRecord?
        let limits: LeaseLimits
        do {
            zone = try await engine.zone(place.zone)
            record = try await engine.lease(of: place.id, in: place.zone)
            limits = try await engine.leaseLimits(at: clock.now())
        } catch {
            logger.warning("a queue cannot be served", metadata: ["meter": "\(place.id)", "error": "\(error)"])
            return
        }
        guard let zone else { return }
        let now = clock.now()
        let canBeHad =
            (record?.holder == nil || record?.isOver(at: now) == true) && limits.grantsNothingNewBefore == nil
        let (turn, isNews) = lines.change(place) { [hub] line -> (WaitingLine.OnTurn, Bool) in
            let before = line.waiters
            for waiter in before where !hub.isListening(waiter.host, in: place.zone) { _ = line.leave(waiter.host) }
            guard canBeHad else {
                line.cannotBeHad()
                return (.none, line.waiters != before)
            }
            let turn = line.canBeHad(at: now)
            return (turn, line.waiters != before)
        }
        if isNews { tell(record, meter: place.id, in: zone) }
        if case .offer(let waiter) = turn {
            hub.tellOffer(of: place.id, reserved: LeaseRules.reservation, to: waiter.host, in: place.zone)
        }
    }
}
