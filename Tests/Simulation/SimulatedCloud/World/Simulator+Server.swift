import LeaseCore
import MeterModel
import SettingsCore
import SyncCore

/// Requests at the server, and what it sends.
extension Simulator {
    mutating func arrive(_ call: CloudCall) {
        guard server.isUp else {
            // Its machine answers for it: nobody listens there. Sometimes even that gets lost.
            if !hosts[call.host].link.isCut(.down), !dice.happens(onceIn: 3) {
                let delay = hosts[call.host].link.delay(&dice)
                queue.add(.callFailed(host: call.host, run: call.run, call: call.id), at: now + delay)
            }
            return
        }
        guard !server.isPaused else {
            queue.add(.request(call), at: now + 500 * .millisecond)
            return
        }
        let before = server.store.value.records
        let response = server.handle(call, at: now, &dice)
        if case .modify(let batch) = call.request, case .pushed(let outcome) = response {
            judge.merged(batch, outcome, from: before, to: server.store.value.records)
        }
        note("cloud: \(hosts[call.host].name) \(call.request.name)\(call.isCopy ? " (copy)" : ""): \(response.name)")
        server.pendingResponses.append((call, response))
        if server.pendingResponses.count == 1 { scheduleFlush() }
    }

    mutating func scheduleFlush() {
        queue.add(.flush(run: server.run), at: now + TrueTime(500 + dice.number(below: 15_000)))
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
        for (call, response) in responses {
            if case .granted(let lease) = response, case .acquire(let request, let meter) = call.request {
                judge.grants(lease.token, to: request.session, meter: meter)
            }
            if case .modify(let batch) = call.request, case .pushed(let outcome) = response {
                judge.accepted(batch, outcome)
            }
            if call.isCopy { continue }
            for delay in hosts[call.host].link.send(.down, at: now, &dice).prefix(1) {
                queue.add(.response(host: call.host, run: call.run, call: call.id, response), at: now + delay)
            }
        }
        for (host, event) in events { stream(event, to: host) }
    }

    /// In order, as over one connection; a lost packet comes later, a cut way breaks it.
    private mutating func stream(_ event: StreamEvent, to index: Int) {
        guard let stream = server.streams[index] else { return }
        guard !hosts[index].link.isDownCut else {
            server.streams[index] = nil
            return
        }
        var delay = hosts[index].link.delay(&dice)
        if dice.happens(permille: hosts[index].link.lossPermille) { delay += TrueTime(dice.number(below: 3_000_000)) }
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
        let limit = now - scenario.tombstoneAge
        guard server.store.value.records.values.contains(where: { $0.tombstoneSince.map { $0 < limit } ?? false })
        else { return }
        let keys = server.store.commit { $0.purge(before: limit) }
        server.store.sync()
        note("cloud: purged \(keys.count)")
        coverage.note(.purged, keys.count)
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
            server.settleLine(meter, at: moment)
        }
        if !server.pendingEvents.isEmpty, server.pendingResponses.isEmpty { flush() }
    }

    // MARK: Crashes

    mutating func crashServer(reboots: Bool) {
        note("cloud: crashes")
        for host in hosts.indices {
            guard let stream = server.streams[host], !hosts[host].link.isDownCut else { continue }
            let delay = hosts[host].link.delay(&dice)
            queue.add(.streamBroke(host: host, run: hosts[host].run, stream: stream), at: now + delay)
        }
        server.crash(&dice)
        server.isPaused = false
        if reboots { server.clock.reboot(wallError: 0, at: now) }
        queue.add(.serverStarts, at: some(dice.happens(onceIn: 4) ? 2 * .minute : 5 * .second))
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
