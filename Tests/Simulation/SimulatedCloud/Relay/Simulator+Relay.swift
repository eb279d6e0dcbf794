import Cloud
import Domain

/// Readings on their way from a holder to hosts that watch, over two copies of the cloud, of which one knows late who has
/// a meter. Each reading's voltage is the token under which it was measured (`mark`).
extension Simulator {
    mutating func beginRelay() {
        queue.add(.relay(.renew), at: 10 * .second)
        queue.add(.relay(.learn), at: .second)
    }

    mutating func handle(_ occasion: RelayOccasion) {
        switch occasion {
        case .look(let host, _): look(host)
        case .watchAgain(let host, _, let meter, let id):
            if relay.observers[host][meter]?.id == id { openStream(host, meter) }
        case .measured(let host, _, let meter, let channel): measured(host, meter, channel)
        case .handedOver(let host, _, let meter, let reading): handOver(reading, host, meter)
        case .wake(let host, _, let meter):
            relay.sendings[host][meter]?.wakeAt = nil
            pump(host, meter)
        case .interest(let host, _, let meter): interested(host, meter)
        case .arrives(let batch): arrive(batch)
        case .passedOn(let arrival, let meter, let copy): tell(arrival, meter, at: copy)
        case .answered(let batch, let outcome): answered(batch, outcome)
        case .shown(let arrival, let host, _, let meter, let id): show(arrival, host, meter, id)
        case .renew: renewInterest()
        case .learn: learn()
        }
    }

    // MARK: Observers

    private mutating func look(_ host: Int) {
        queue.add(.relay(.look(host: host, run: hosts[host].run)), at: soon(20 * .second))
        guard hosts[host].zone == 0 else { return }
        let meter = relay.rng.number(below: scenario.meters)
        guard relay.observers[host][meter] == nil else {
            relay.observers[host][meter] = nil
            relay.watchers.removeAll { $0.host == host && $0.meter == meter }
            return
        }
        relay.observers[host][meter] = SimulatedRelay.Observer(id: relay.rng.next())
        openStream(host, meter)
    }

    private mutating func openStream(_ host: Int, _ meter: Int) {
        guard let id = relay.observers[host][meter]?.id else { return }
        guard server.isUp, !server.isPaused, !hosts[host].link.isCut else { return retry(host, meter, id) }
        relay.watchers.removeAll { $0.host == host && $0.meter == meter }
        relay.watchers.append(
            SimulatedRelay.Watcher(
                id: id, host: host, run: hosts[host].run, meter: meter,
                copy: relay.rng.number(below: SimulatedRelay.copies)))
        tellHolder(of: meter)
    }

    private mutating func retry(_ host: Int, _ meter: Int, _ id: UInt64) {
        queue.add(
            .relay(.watchAgain(host: host, run: hosts[host].run, meter: meter, id: id)), at: soon(4 * .second))
    }

    private mutating func show(_ arrival: RelayObserver.Arrival, _ host: Int, _ meter: Int, _ id: UInt64) {
        guard var observer = relay.observers[host][meter], observer.id == id else { return }
        let verdict = observer.rules.received(arrival)
        defer { relay.observers[host][meter] = observer }
        let isShown = if case .show = verdict { true } else { scenario.bug == .showsOlderTokens }
        guard isShown else {
            if let shown = observer.shown, shown.token > arrival.token { coverage.note(.relayFenced) }
            return
        }
        let token = arrival.token
        for reading in arrival.batch.readings where reading.reading[.voltage] != mark(token) {
            judge.object(
                "\(hosts[host].name) shows meter \(meter) under token \(token.rawValue), which was measured under "
                    + "\(reading.reading[.voltage] ?? 0)")
        }
        if let shown = observer.shown, shown.epoch == arrival.epoch {
            if token < shown.token {
                judge.object(
                    "\(hosts[host].name) shows meter \(meter) under token \(token.rawValue) after "
                        + "\(shown.token.rawValue)")
            }
            if token > shown.token { coverage.note(.relayHandedOver) }
        }
        coverage.note(.relayShown)
        observer.shown = (arrival.epoch, token)
    }

    // MARK: Holders

    /// The first measurement of a channel comes with it.
    mutating func beginMeasuring(_ host: Int, _ meter: Int, _ channel: UInt64) {
        queue.add(
            .relay(.measured(host: host, run: hosts[host].run, meter: meter, channel: channel)), at: soon(.second))
    }

    /// What tells one token from those near it. Small, so that the mean of many is exact.
    private func mark(_ token: FencingToken) -> Double { Double(token.rawValue % (1 << 20)) }

    private func token(_ host: Int, _ meter: Int) -> FencingToken? {
        guard case .leased(let permit)? = hosts[host].permissions[meter] else { return nil }
        return permit.token
    }

    private mutating func measured(_ host: Int, _ meter: Int, _ channel: UInt64) {
        guard hosts[host].channels[meter] == .open(channel) else { return }
        beginMeasuring(host, meter, channel)
        guard relay.sendings[host][meter] != nil else { return }
        var reading = Reading()
        reading[.voltage] = token(host, meter).map { mark($0) } ?? -1
        let timed = TimedReading(
            wallTime: hosts[host].clock.wall(at: now), time: hosts[host].clock.now(at: now), reading: reading)
        guard scenario.bug == .sendsUnderLaterToken else { return handOver(timed, host, meter) }
        queue.add(
            .relay(.handedOver(host: host, run: hosts[host].run, meter: meter, timed)), at: soon(10 * .second))
    }

    private mutating func handOver(_ reading: TimedReading, _ host: Int, _ meter: Int) {
        let token = token(host, meter)
        relay.sendings[host][meter]?.rules.received(reading, under: token)
        pump(host, meter)
    }

    private mutating func interested(_ host: Int, _ meter: Int) {
        let until = hosts[host].clock.now(at: now) + RelayTiming.interest
        guard token(host, meter) != nil else { return relay.sendings[host][meter] = nil }
        if relay.sendings[host][meter] == nil {
            relay.sendings[host][meter] = SimulatedRelay.Sending(rules: RelaySender(until: until, sendsAll: false))
        } else {
            relay.sendings[host][meter]?.rules.interested(until: until, sendsAll: false)
        }
        pump(host, meter)
    }

    private mutating func pump(_ host: Int, _ meter: Int) {
        let moment = hosts[host].clock.now(at: now)
        guard let until = relay.sendings[host][meter]?.rules.until else { return }
        guard moment < until else { return relay.sendings[host][meter] = nil }
        let token = token(host, meter)
        if let parcel = relay.sendings[host][meter]?.rules.next(under: token, at: moment) { send(parcel, host, meter) }
        guard let wake = relay.sendings[host][meter]?.rules.nextWake else { return }
        let time = max(hosts[host].clock.trueTime(of: wake), now + 1)
        guard relay.sendings[host][meter]?.wakeAt != time else { return }
        relay.sendings[host][meter]?.wakeAt = time
        queue.add(.relay(.wake(host: host, run: hosts[host].run, meter: meter)), at: time)
    }

    /// Through one of the copies. A second one of a doubled request may come when all else is over.
    private mutating func send(_ parcel: RelaySender.Parcel, _ host: Int, _ meter: Int) {
        let batch = SimulatedRelay.Batch(
            id: relay.rng.next(), host: host, run: hosts[host].run, session: hosts[host].store.value.session,
            meter: meter, copy: relay.rng.number(below: SimulatedRelay.copies), parcel: parcel)
        relay.sendings[host][meter]?.underWay = batch.id
        for (place, delay) in delays(.up, host).enumerated() {
            let late = place > 0 ? TrueTime(relay.rng.number(below: 60)) * .second : 0
            queue.add(.relay(.arrives(batch)), at: now + delay + late)
        }
        // The client gives up on an answer.
        queue.add(.relay(.answered(batch, .failed)), at: now + 10 * .second)
    }

    private mutating func answered(_ batch: SimulatedRelay.Batch, _ outcome: RelaySender.Outcome) {
        guard relay.sendings[batch.host][batch.meter]?.underWay == batch.id else { return }
        relay.sendings[batch.host][batch.meter]?.underWay = nil
        let moment = hosts[batch.host].clock.now(at: now)
        relay.sendings[batch.host][batch.meter]?.rules.sent(batch.parcel, outcome, at: moment)
        pump(batch.host, batch.meter)
    }

    // MARK: The cloud

    /// As `CloudService.relay` does: by what the copy knows, and by the store where that says otherwise.
    private mutating func arrive(_ batch: SimulatedRelay.Batch) {
        guard server.isUp, !server.isPaused else { return }
        let stored = server.store.value.leases[batch.meter]
        let host = hosts[batch.host].id
        func isHeld(_ lease: LeaseRecord?) -> Bool {
            lease?.isHeld(by: host, batch.session, batch.parcel.token.rawValue) == true
        }
        var isTaken = batch.copy == 0 ? isHeld(stored) : isHeld(relay.heard[batch.meter])
        if !isTaken {
            relay.heard[batch.meter] = stored
            isTaken = isHeld(stored)
        } else if !isHeld(stored) {
            // The copy does not know yet that another host has it. Those who watch have to see that by themselves.
            coverage.note(.relayTakenLate)
        }
        if !isTaken { coverage.note(.relayRefused) }
        for delay in delays(.down, batch.host).prefix(1) {
            queue.add(.relay(.answered(batch, isTaken ? .taken : .refused)), at: now + delay)
        }
        guard isTaken else { return }
        let arrival = RelayObserver.Arrival(
            epoch: server.store.value.epoch, token: batch.parcel.token, holder: host,
            holderName: hosts[batch.host].name,
            batch: batch.parcel.batch)
        tell(arrival, batch.meter, at: batch.copy)
        queue.add(
            .relay(.passedOn(arrival, meter: batch.meter, copy: 1 - batch.copy)),
            at: now + TrueTime(relay.rng.number(below: relay.rng.happens(onceIn: 10) ? 4_000_000 : 20_000)))
    }

    /// In order for each stream. One that loses something breaks.
    private mutating func tell(_ arrival: RelayObserver.Arrival, _ meter: Int, at copy: Int) {
        for (place, watcher) in relay.watchers.enumerated().reversed()
        where watcher.meter == meter && watcher.copy == copy {
            guard server.isUp, let delay = delays(.down, watcher.host).first else {
                relay.watchers.remove(at: place)
                retry(watcher.host, meter, watcher.id)
                continue
            }
            let time = max(now + delay, watcher.lastDelivery + 1)
            relay.watchers[place].lastDelivery = time
            queue.add(
                .relay(.shown(arrival, host: watcher.host, run: watcher.run, meter: meter, id: watcher.id)), at: time)
        }
    }

    private mutating func renewInterest() {
        queue.add(.relay(.renew), at: now + 10 * .second)
        for meter in 0..<scenario.meters { tellHolder(of: meter) }
    }

    private mutating func tellHolder(of meter: Int) {
        guard server.isUp, !server.isPaused, relay.watchers.contains(where: { $0.meter == meter }),
            let holder = server.store.value.leases[meter]?.holder?.host,
            let host = hosts.firstIndex(where: { $0.id == holder }), server.streams[host] != nil,
            let delay = delays(.down, host).first
        else { return }
        queue.add(.relay(.interest(host: host, run: hosts[host].run, meter: meter)), at: now + delay)
    }

    private mutating func learn() {
        queue.add(.relay(.learn), at: now + TrueTime(relay.rng.number(below: 8_000_000)) + 1)
        guard server.isUp, !server.isPaused else { return }
        relay.heard = server.store.value.leases
    }

    /// The streams end with the cloud, and are opened again.
    mutating func relayCrashed() {
        let open = relay.watchers
        relay.watchers = []
        for watcher in open { retry(watcher.host, watcher.meter, watcher.id) }
    }

    // MARK: Chance

    /// As the way of a host has it, without leaving a trace in it.
    private mutating func delays(_ direction: SimulatedLink.Direction, _ host: Int) -> [TrueTime] {
        var link = hosts[host].link
        return link.send(direction, at: now, &relay.rng)
    }

    private mutating func soon(_ time: TrueTime) -> TrueTime {
        now + TrueTime(relay.rng.number(below: Int(time) * 2)) + 1
    }
}
