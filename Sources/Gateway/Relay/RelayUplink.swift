package import Domain
package import Logging

/// Sends readings of this host's meters to the cloud while users watch them on other hosts (Docs/Relay.md).
///
/// Runs on the session loop to check each batch against the current lease.
package actor RelayUplink {
    private struct Sending {
        /// Number of this relay; late events of the same meter's earlier relays are ignored.
        let number: UInt64
        var source: RelaySource
        var sender: RelaySender
        var reader: Task<Void, Never>
        var alarm: Alarm
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: any SessionLoop
    private let link: any RelayLink
    private let keeper: LeaseKeeper
    private let shares: Bool
    private let source: @Sendable (MeterID) async -> RelaySource?
    private let logger: Logger
    private var sendings: [MeterID: Sending] = [:]
    /// Retry timers of meters that another host wants to watch before this host holds their lease.
    private var early: [MeterID: LoopTimer] = [:]
    private var lastNumber: UInt64 = 0
    private var isOver = false

    /// - Parameters:
    ///   - shares: if false, other hosts see no readings, but are informed of the refusal.
    ///   - source: returns nil for a meter that this host does not have.
    package init(
        link: any RelayLink, keeper: LeaseKeeper, shares: Bool = true, loop: any SessionLoop, logger: Logger,
        source: @escaping @Sendable (MeterID) async -> RelaySource?
    ) {
        self.link = link
        self.keeper = keeper
        self.shares = shares
        self.loop = loop
        self.logger = logger
        self.source = source
    }

    package func handle(_ event: CloudEvent) async {
        guard case .interest(let meter, let remaining, let wantsAll) = event else { return }
        await interest(in: meter, for: remaining, wantsAll: wantsAll)
    }

    /// - Parameters:
    ///   - leased: id under which the meter is leased.
    ///   - remaining: zero ends the relay.
    private func interest(in leased: MeterID, for remaining: Duration, wantsAll: Bool) async {
        if let timer = early.removeValue(forKey: leased) { loop.cancel(timer) }
        guard remaining > .zero, !isOver else { return end(leased) }
        let until = loop.now + min(remaining, RelayTiming.interest * 2)
        guard let (meter, token) = held(leased) else {
            end(leased)
            return lookAgain(leased, until: until, wantsAll: wantsAll)
        }
        guard shares else { return await tellThatNothingIsShared(of: leased, token) }
        if let sending = sendings[leased], sending.source.meter == meter {
            sendings[leased]?.sender.interested(until: until, sendsAll: wantsAll)
            return pump(leased)
        }
        end(leased)
        guard let source = await source(meter), !isOver, sendings[leased] == nil else { return }
        let readings = source.readings.subscribe()
        logger.debug("relay started: another host watches the meter", metadata: ["meter.id": "\(meter)"])
        lastNumber += 1
        let number = lastNumber
        // Runs on the session loop, so that each reading gets the fencing token under which it was measured.
        let reader = Task {
            for await item in readings { self.received(item.value, missed: item.missed, of: leased, in: number) }
            self.ended(leased, in: number)
        }
        sendings[leased] = Sending(
            number: number, source: source, sender: RelaySender(until: until, sendsAll: wantsAll), reader: reader,
            alarm: Alarm(on: loop))
        pump(leased)
    }

    /// Checks the lease again soon, because the cloud's interest event may arrive before the answer to the lease
    /// request.
    private func lookAgain(_ leased: MeterID, until: MonotonicTime, wantsAll: Bool) {
        early[leased] = loop.schedule(at: loop.now + RelayTiming.batchInterval) { [weak self] in
            self?.assumeIsolated { uplink in
                uplink.early[leased] = nil
                let remaining = until - uplink.loop.now
                Task { await uplink.interest(in: leased, for: remaining, wantsAll: wantsAll) }
            }
        }
    }

    private func tellThatNothingIsShared(of leased: MeterID, _ token: FencingToken) async {
        var batch = RelayBatch(at: loop.now, missed: 0, readings: [])
        batch.isShared = false
        // Ignore a failure: the refusal is sent again at the next interest event.
        _ = try? await link.send(
            RelaySender.Parcel(token: token, batch: batch), of: leased, session: keeper.identity.session)
    }

    package var count: Int { sendings.count }

    package func shutdown() {
        isOver = true
        for meter in sendings.keys { end(meter) }
        for timer in early.values { loop.cancel(timer) }
        early = [:]
    }

    private func end(_ leased: MeterID) {
        guard var ended = sendings.removeValue(forKey: leased) else { return }
        ended.reader.cancel()
        ended.alarm.cancel()
    }

    private func ended(_ leased: MeterID, in number: UInt64) {
        if sendings[leased]?.number == number { end(leased) }
    }

    private func received(_ reading: TimedReading, missed: Int, of leased: MeterID, in number: UInt64) {
        guard sendings[leased]?.number == number else { return }
        if missed > 0 { sendings[leased]?.sender.lost(missed) }
        let token = token(leased)
        sendings[leased]?.sender.received(reading, under: token)
        pump(leased)
    }

    private func pump(_ leased: MeterID) {
        guard let until = sendings[leased]?.sender.until else { return }
        let now = loop.now
        guard now < until else { return end(leased) }
        let token = token(leased)
        let (model, state) = sendings[leased]?.source.look() ?? (nil, nil)
        if let number = sendings[leased]?.number,
            let parcel = sendings[leased]?.sender.next(under: token, model: model, state: state, at: now)
        {
            Task { await self.send(parcel, of: leased, in: number) }
        }
        // No event reports a change of the meter's state, so poll it.
        let look = now + RelayTiming.stateInterval
        let wake = min(sendings[leased]?.sender.nextWake ?? look, look, until)
        sendings[leased]?.alarm.set(to: wake) { [weak self] in
            self?.assumeIsolated { uplink in
                uplink.sendings[leased]?.alarm.rang()
                uplink.pump(leased)
            }
        }
    }

    private func token(_ leased: MeterID) -> FencingToken? {
        guard let held = held(leased), held.meter == sendings[leased]?.source.meter else { return nil }
        return held.token
    }

    private func held(_ leased: MeterID) -> (meter: MeterID, token: FencingToken)? {
        keeper.assumeIsolated { $0.held(leased) }
    }

    private func send(_ parcel: RelaySender.Parcel, of leased: MeterID, in number: UInt64) async {
        let outcome: RelaySender.Outcome
        do throws(SyncFailure) {
            guard let remaining = try await link.send(parcel, of: leased, session: keeper.identity.session) else {
                logger.notice(
                    "relayed readings refused by the cloud",
                    metadata: [
                        "meter.id": "\(leased)", "lease.token": "\(parcel.token.rawValue)",
                        "cause": "another host has the meter",
                    ])
                return sent(parcel, .refused, of: leased, in: number)
            }
            guard remaining > .zero else { return ended(leased, in: number) }
            outcome = .taken
        } catch {
            logger.debug("relayed readings not sent", metadata: ["meter.id": "\(leased)", "cause": "\(error)"])
            outcome = .failed
        }
        sent(parcel, outcome, of: leased, in: number)
    }

    private func sent(
        _ parcel: RelaySender.Parcel, _ outcome: RelaySender.Outcome, of leased: MeterID, in number: UInt64
    ) {
        guard sendings[leased]?.number == number else { return }
        sendings[leased]?.sender.sent(parcel, outcome, at: loop.now)
        pump(leased)
    }
}
