import Domain

/// Requests at the server, and what it sends.
extension Simulator {
    mutating func arrive(_ call: CloudCall) {
        guard server.isUp else {
            // Its machine answers for it: nobody listens there. Sometimes even that gets lost.
            if !hosts[call.host].link.isCut(.down), !rng.happens(onceIn: 3) {
                let delay = hosts[call.host].link.delay(&rng)
                queue.add(.callFailed(host: call.host, run: call.run, call: call.id), at: now + delay)
            }
            return
        }
        guard !server.isPaused else {
            queue.add(.request(call), at: now + 500 * .millisecond)
            return
        }
        let before = server.store.value.zones[call.zone].records
        // The copy is from just before the edit, so that its host has read nothing that is lost.
        if putsBackSoon, case .modify = call.request { copy = server.store.value }
        let leases = server.store.value.leases
        let response = server.handle(call, at: now, &rng)
        if call.isRepetition, case .acquire(_, let meter) = call.request {
            judge.repeats(call, response, from: leases[meter], to: server.store.value.leases[meter])
        }
        if case .granted(let lease) = response, case .acquire(let request, let meter) = call.request {
            let others = grants[meter].filter { $0.requestID != request.requestID }
            let grant = Grant(call: call, requestID: request.requestID, token: lease.token)
            grants[meter] = (others + [grant]).suffix(LeaseRecord.grantsMax)
        }
        if case .modify(let batch) = call.request, case .pushed(let outcome) = response {
            judge.merged(batch, outcome, from: before, to: server.store.value.zones[call.zone].records)
            judge.tells(batch, in: call.zone)
        }
        note("cloud: \(hosts[call.host].name) \(call.request.name)\(call.isCopy ? " (copy)" : ""): \(response.name)")
        let decision = Decision(generation: generation, policy: server.terms.policy)
        server.pendingResponses.append((call, response, decision))
        if server.pendingResponses.count == 1 { scheduleFlush() }
    }

    mutating func scheduleFlush() {
        queue.add(.flush(run: server.run), at: now + TrueTime(500 + rng.number(below: 15_000)))
    }

    mutating func flush() {
        if killsServer, server.store.hasUnsynced {
            killsServer = false
            coverage.note(.serverKilled)
            crashServer(reboots: false)
            return
        }
        server.store.sync()
        let responses = server.pendingResponses
        let events = server.pendingEvents
        server.pendingResponses.removeAll(keepingCapacity: true)
        server.pendingEvents.removeAll(keepingCapacity: true)
        for (call, response, decision) in responses {
            if case .granted(let lease) = response, case .acquire(let request, let meter) = call.request {
                judge.grants(lease.token, to: request, meter: meter)
                if let index = grants[meter].lastIndex(where: { $0.requestID == request.requestID }) {
                    grants[meter][index].isAnswered = true
                }
            }
            if case .modify(let batch) = call.request, case .pushed(let outcome) = response {
                judge.accepted(batch, outcome, in: call.zone)
            }
            if call.isCopy { continue }
            for delay in hosts[call.host].link.send(.down, at: now, &rng).prefix(1) {
                queue.add(.response(host: call.host, run: call.run, call: call.id, response, decision), at: now + delay)
            }
        }
        for (host, event) in events { stream(event, to: host) }
        let hasTaken = responses.contains { if case .pushed = $0.response { true } else { false } }
        if putsBackSoon, hasTaken, let copy { putBack(copy) }
    }

    /// In order, as over one connection; a lost packet comes later, a cut way breaks it.
    private mutating func stream(_ event: StreamEvent, to index: Int) {
        guard let stream = server.streams[index] else { return }
        guard !hosts[index].link.isDownCut else {
            server.streams[index] = nil
            return
        }
        var delay = hosts[index].link.delay(&rng)
        if rng.happens(permille: hosts[index].link.lossPermille) { delay += TrueTime(rng.number(below: 3_000_000)) }
        let time = max(now + delay, hosts[index].lastStreamDelivery + 1)
        hosts[index].lastStreamDelivery = time
        queue.add(.streamed(host: index, run: hosts[index].run, stream: stream, event), at: time)
    }

    mutating func ping(_ run: Int) {
        guard run == server.run, server.isUp else { return }
        queue.add(.ping(run: run), at: now + 15 * .second)
        guard !server.isPaused else { return }
        for host in hosts.indices where server.streams[host] != nil { stream(.ping, to: host) }
        purge()
    }

    private mutating func purge() {
        // As the service: nothing is purged while nothing confirms the calendar.
        guard !server.isIn2099 || scenario.bug == .purgesByCalendar else { return }
        let limit = server.clock.wall(at: now).millisecondsSince1970 - scenario.tombstoneAge / .millisecond
        for zone in server.store.value.zones.indices
        where server.store.value.zones[zone].hasTombstones(before: limit) {
            let gone = server.store.commit { $0.zones[zone].purge(before: limit) }
            server.store.sync()
            note("cloud: purged \(gone.count)")
            coverage.note(.purged, gone.count)
            forgot(Array(gone.keys))
            if server.isIn2099, gone.values.contains(where: { now - $0.since < scenario.tombstoneAge / 2 }) {
                judge.object("the cloud, in 2099, purges what was just deleted")
            }
        }
    }

    private mutating func forgot(_ keys: [RecordKey]) {
        judge.forgot(keys)
        for (index, host) in hosts.enumerated() {
            let replica = host.store.value
            // The known limit of the README: nothing tells it that the record is gone.
            for key in keys where replica.tokens[key.type] == nil && !replica.refetching.contains(key.type) {
                if replica.records[key] != nil { judge.excuses(key, at: index) }
            }
        }
    }

    mutating func settleLines(_ run: Int) {
        guard run == server.run, server.isUp else { return }
        queue.add(.settleLines(run: run), at: now + .second)
        guard !server.isPaused else { return }
        let moment = server.clock.now(at: now)
        for meter in server.lines.indices where !server.lines[meter].waiters.isEmpty {
            server.settleQueue(meter, at: moment)
        }
        if !server.pendingEvents.isEmpty, server.pendingResponses.isEmpty { flush() }
    }

    // MARK: Crashes

    /// - Parameter wallError: of its calendar after a reboot.
    mutating func crashServer(reboots: Bool, wallError: Int64 = 0) {
        note("cloud: crashes")
        for host in hosts.indices {
            guard let stream = server.streams[host], !hosts[host].link.isDownCut else { continue }
            let delay = hosts[host].link.delay(&rng)
            queue.add(.streamBroke(host: host, run: hosts[host].run, stream: stream), at: now + delay)
        }
        server.crash(&rng)
        judge.survived(server.store.value.zones)
        server.isPaused = false
        relayCrashed()
        if reboots {
            server.clock.reboot(wallError: wallError, at: now)
            server.isIn2099 = false
        }
        queue.add(.serverStarts, at: some(rng.happens(onceIn: 4) ? 2 * .minute : 5 * .second))
    }

    mutating func startServer() {
        server.start(at: now)
        note("cloud: starts, epoch \(server.store.value.epoch)")
        queue.add(.ping(run: server.run), at: now + 15 * .second)
        queue.add(.settleLines(run: server.run), at: now + .second)
    }

    mutating func resumeServer() {
        server.isPaused = false
        if !server.pendingResponses.isEmpty { scheduleFlush() }
    }
}
