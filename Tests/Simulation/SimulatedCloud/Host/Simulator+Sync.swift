import Domain

/// The sync engine of a host: the machine, its store and its stream.
extension Simulator {
    mutating func sync(_ index: Int, _ input: SyncInput) {
        let moment = hosts[index].clock.now(at: now)
        for effect in hosts[index].sync.handle(input, at: moment, random: rng.next()) {
            switch effect {
            case .perform(let operation): begin(index, operation)
            case .openEvents:
                let stream = nextID()
                hosts[index].stream = stream
                send(.openStream(stream), from: index)
            case .closeEvents:
                if let stream = hosts[index].stream { send(.closeStream(stream), from: index) }
                hosts[index].stream = nil
            case .announce(let result): announce(index, result)
            case .announceHalt, .log: break
            }
        }
    }

    private mutating func announce(_ index: Int, _ result: SyncResult) {
        note("\(hosts[index].name): run \(result.run) for \(result.trigger.rawValue): \(result.end)")
        if result.trigger == .poll { coverage.note(.pollRun) }
        switch result.end {
        case .cancelled: coverage.note(.cancelled)
        case .halted: coverage.note(.halted)
        case .complete, .partial, .failed: break
        }
    }

    private mutating func begin(_ index: Int, _ operation: SyncOperation) {
        switch operation {
        case .checkAccount: send(.account, from: index, for: operation)
        case .createZone: send(.createZone, from: index, for: operation)
        case .push(let batch): send(.modify(batch), from: index, for: operation)
        case .fetch(let type, let since, let limit):
            send(.changes(type, since: since, limit: limit), from: index, for: operation)
        case .readProgress, .adopt, .correct, .readBatch, .settle, .retryHeldBack, .restamp, .beginRefetch, .apply,
            .cleanUp:
            if case .apply(let page) = operation, scenario.bug == .tokenBeforePage {
                hosts[index].store.commit { $0.tokens[page.type] = page.token }
                hosts[index].store.sync()
            }
            queue.add(
                .stored(host: index, run: hosts[index].run, operation),
                at: now + TrueTime(1000 + rng.number(below: 25_000)))
        }
    }

    // MARK: The store

    /// A transaction of the store, durable when this returns true; false: the process was killed in it.
    private mutating func commit<Result>(_ index: Int, _ change: (inout Replica) -> Result) -> Result? {
        let result = hosts[index].store.commit(change)
        if killsHost == index {
            killsHost = nil
            coverage.note(.storeKilled)
            if scenario.bug == .tokenBeforePage || rng.happens(onceIn: 2) { hosts[index].store.undo() }
            crash(index, reboots: false)
            return nil
        }
        hosts[index].store.sync()
        return result
    }

    mutating func stored(_ index: Int, _ operation: SyncOperation) {
        let moment = hosts[index].clock.now(at: now)
        let boot = hosts[index].clock.boot
        let merge = server.merge
        let wall = hosts[index].clock.wall(at: now).millisecondsSince1970
        doubtCalendar(of: index)
        switch operation {
        case .readProgress: sync(index, .progressRead(hosts[index].store.value.progress))
        case .readBatch(let recordsMax, _, _):
            guard let batch = commit(index, { $0.nextBatch(recordsMax: recordsMax) }) else { return }
            sync(index, .batchRead(batch))
        case .adopt(let zone, let entry):
            let before = hosts[index].store.value
            let bug = scenario.bug
            guard commit(index, { $0.adopt(zone, entry, bug: bug) }) != nil else { return }
            judge.keeps(before.records, in: hosts[index].store.value, by: hosts[index].name)
            judge.reaches(recordsZone(of: index), by: index)
            coverage.note(.adopted)
            if case .another = entry { coverage.note(.zoneEntered) }
            sync(index, .adopted)
        case .correct(let offset):
            let wall = (hosts[index].clock.wall(at: now) + offset).millisecondsSince1970
            var changes: [(old: Stamp, new: Stamp)] = []
            let isDone: Void? = commit(index) { changes = $0.correct(wall: wall, boot: boot, at: moment) }
            // Also where it was killed in it: the commit may have survived.
            restamped(index, changes, isCertain: isDone != nil)
            guard isDone != nil else { return }
            if !changes.isEmpty { coverage.note(.corrected) }
            sync(index, .corrected)
        case .restamp(let offset):
            let wall = UInt64(clamping: (hosts[index].clock.wall(at: now) + offset).millisecondsSince1970)
            var changes: [(old: Stamp, new: Stamp)] = []
            let isDone: Void? = commit(index) { changes = $0.restamp(from: wall) }
            restamped(index, changes, isCertain: isDone != nil)
            guard isDone != nil else { return }
            coverage.note(.restamped)
            sync(index, .restamped)
        case .settle(let batch, let outcome):
            let bug = scenario.bug
            let merged = commit(index) {
                $0.settle(batch, outcome, merge: merge, bug: bug, wall: wall)
            }
            guard let merged else { return }
            if outcome.results.contains(where: { $0.failure != nil }) { coverage.note(.parked) }
            sync(index, .settled(merged))
        // The simulated cloud has room for everything.
        case .retryHeldBack: sync(index, .heldBackRetried(0))
        case .beginRefetch(let type):
            guard commit(index, { $0.beginRefetch(of: type) }) != nil else { return }
            coverage.note(.refetch)
            sync(index, .refetchBegun)
        case .apply(let page): apply(index, page, merge)
        case .cleanUp: cleanUp(index)
        case .checkAccount, .createZone, .push, .fetch: break
        }
    }

    private mutating func restamped(_ index: Int, _ changes: [(old: Stamp, new: Stamp)], isCertain: Bool) {
        for (old, new) in changes { note("\(hosts[index].name): \(old) becomes \(new)") }
        judge.restamps(changes, by: index, isCertain: isCertain)
    }

    private mutating func apply(_ index: Int, _ page: ChangesPage, _ merge: Merge) {
        guard page.epoch == hosts[index].store.value.epoch else {
            judge.object("\(hosts[index].name) is to store a page of \(page.epoch) beside those of another epoch")
            return
        }
        let wall = hosts[index].clock.wall(at: now).millisecondsSince1970
        let dropsUnlisted = scenario.bug == .dropsUnlisted
        let before = hosts[index].store.value
        let applied = commit(index) { $0.apply(page, merge: merge, dropsUnlisted: dropsUnlisted, wall: wall) }
        guard let outcome = applied else { return }
        if before.refetching.contains(page.type) {
            judge.keeps(before.records, in: hosts[index].store.value, by: hosts[index].name)
            if hosts[index].store.value.aside.count > before.aside.count { coverage.note(.setAside) }
        }
        coverage.note(.pageApplied)
        judge.read(
            hosts[index].store.value, upTo: page.token, of: page.type,
            from: server.store.value.zones[hosts[index].zone], epoch: server.store.value.epoch, by: hosts[index].name)
        sync(index, .applied(outcome))
    }

    /// What is written now has a date that nobody confirms.
    mutating func doubtCalendar(of index: Int) {
        let time = now
        hosts[index].store.touch { $0.trueTime = time }
        guard !hosts[index].isCalendarConfirmed else { return }
        let wall = hosts[index].clock.wall(at: now)
        hosts[index].store.touch { $0.doubt(wall) }
    }

    /// Its own tombstones live as long as the cloud's, by the date that it believes.
    private mutating func cleanUp(_ index: Int) {
        let moment = hosts[index].clock.now(at: now)
        let wall = hosts[index].clock.wall(at: now)
        let running = hosts[index].countedUntil.map { moment - $0 } ?? .zero
        hosts[index].countedUntil = moment
        let isConfirmed = hosts[index].isCalendarConfirmed
        let age = Duration.microseconds(scenario.tombstoneAge)
        let trusts = scenario.bug == .trustsCalendar
        let learnedAt = hosts[index].store.value.learnedAt
        // Also where it is killed in it: the commit may survive.
        var keys: [RecordKey] = []
        let isDone: Void? = commit(index) { replica in
            if isConfirmed { replica.goOn(to: wall, running: running) }
            keys = replica.cleanUp(olderThan: age, by: trusts ? BelievedDate(date: wall) : nil)
        }
        judge.forgot(keys)
        for key in keys where hosts[index].isIn2099 && now - learnedAt[key, default: now] < scenario.tombstoneAge / 2 {
            judge.object("\(hosts[index].name), in 2099, forgets that \(key.name) was just deleted")
        }
        guard isDone != nil else { return }
        coverage.note(.cleanedUp, keys.count)
        sync(index, .cleanedUp)
    }

    // MARK: The cloud

    mutating func exchanged(
        _ index: Int, _ operation: SyncOperation, _ response: CloudResponse, roundTrip: Duration
    ) {
        let wall = hosts[index].clock.wall(at: now)
        func sample(_ serverTime: UInt64) -> ClockSample {
            ClockSample(serverTime: serverTime, localTime: wall, roundTrip: roundTrip)
        }
        switch response {
        case .account(let account):
            if let policy = LeasePolicy(rawValue: account.policy), policy != hosts[index].policy {
                hosts[index].policyIs(policy)
            }
            sync(index, .accountChecked(account, sample(account.serverTime)))
        case .pushed(let outcome): sync(index, .pushed(outcome, sample(outcome.serverTime)))
        case .page(let page): sync(index, .pageFetched(page))
        case .failed(let failure):
            if failure.kind == .limitExceeded { coverage.note(.split) }
            sync(index, .cloudFailed(failure))
        case .done: if case .createZone = operation { sync(index, .zoneCreated) }
        case .granted, .refused, .renewals: break
        }
    }

    // MARK: The stream

    mutating func heard(_ index: Int, _ event: StreamEvent) {
        let moment = hosts[index].clock.now(at: now)
        switch event {
        case .opened:
            sync(index, .streamOpened)
            for meter in hosts[index].leases.indices {
                hosts[index].leases[meter].cloudReached(at: moment, random: rng.next())
                guard scenario.bug == .wishesForEver, hosts[index].takeoverWishes[meter] != nil else { continue }
                let intent = LeaseIntent(isTakeover: true, isAsked: true)
                perform(hosts[index].leases[meter].wanted(intent, at: moment), index, meter)
            }
        case .changed(let types, let host): sync(index, .remoteChanged(types: types, host: host))
        case .lease(let lease, let meter):
            sync(index, .streamHeard)
            perform(hosts[index].leases[meter].leaseSeen(lease, at: moment, random: rng.next()), index, meter)
        case .offer(let meter):
            sync(index, .streamHeard)
            perform(hosts[index].leases[meter].offered(at: moment), index, meter)
        case .ping: sync(index, .streamHeard)
        }
    }

    mutating func lostStream(_ index: Int) {
        coverage.note(.streamBroke)
        hosts[index].stream = nil
        sync(index, .streamBroke(SyncFailure(.network, "the stream broke")))
    }
}
