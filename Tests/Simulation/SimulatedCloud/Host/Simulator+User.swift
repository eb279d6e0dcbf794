import Domain

/// Starts of a host, and what its user does.
extension Simulator {
    mutating func start(_ index: Int) {
        let session = SessionID(using: &rng)
        let wanted = hosts[index].store.value.wants
        hosts[index].isUp = true
        hosts[index].run += 1
        let previous = hosts[index].store.value.session
        hosts[index].previousSession = hosts[index].run > 2 ? previous : nil
        hosts[index].store.commit { $0.session = session }
        hosts[index].store.sync()
        hosts[index].begin(scenario)
        if hosts[index].isIn2099 { coverage.note(.hostIn2099) }
        note("\(hosts[index].name): starts as \(session)")
        sync(index, .started)
        let moment = hosts[index].clock.now(at: now)
        for meter in wanted.indices where wanted[meter] {
            perform(hosts[index].leases[meter].wanted(.resume, at: moment), index, meter)
        }
        queue.add(.user(host: index, run: hosts[index].run), at: some(scenario.userGap))
        queue.add(.relay(.look(host: index, run: hosts[index].run)), at: now + .second)
        scheduleWake(index)
    }

    mutating func userActs(_ index: Int) {
        guard !isHealed else { return }
        queue.add(.user(host: index, run: hosts[index].run), at: some(scenario.userGap))
        let meter = rng.number(below: scenario.meters)
        guard hosts[index].zone == 0 else {
            // Its meters are at home.
            if rng.happens(onceIn: 8) { delete(index) } else { write(index) }
            return
        }
        if isTense, rng.happens(onceIn: 2) {
            want(index, meter)
            return
        }
        switch rng.number(below: 100) {
        case 0..<45: write(index)
        case 45..<48: for _ in 0..<12 { write(index) }
        case 48..<56: delete(index)
        case 56..<74: want(index, meter)
        case 74..<82: unwant(index, meter)
        case 82..<88: breakLink(index, meter)
        case 88..<91: sync(index, .triggered(.asked))
        case 91..<94: sync(index, .cancelRequested)
        case 94..<98: if case .halted = hosts[index].sync.state.phase { sync(index, .resumed) }
        default: write(index, property: SimulatedServer.poison)
        }
    }

    // MARK: Settings

    private mutating func someKey() -> RecordKey {
        let types: [RecordType] = scenario.names > 1 ? [.deviceSettings, .deviceSettings, .meterAlias, .host] : [.host]
        return RecordKey(type: rng.pick(types) ?? .host, name: "r\(rng.number(below: scenario.names))")
    }

    private mutating func write(_ index: Int, property: String? = nil) {
        guard hosts[index].isUp else { return }
        lastValue += 1
        let name = property ?? rng.pick(["brightness", "limit", "name"]) ?? "name"
        // A poisoned record is refused whole, so it is one that nobody writes to otherwise.
        let key = property == nil ? someKey() : RecordKey(type: .recording, name: "\(hosts[index].name)-\(lastValue)")
        change(index, .int(lastValue), key, name, isPromised: property == nil)
        coverage.note(.written)
    }

    private mutating func delete(_ index: Int) {
        let key = someKey()
        guard hosts[index].store.value.records[key] != nil else { return }
        change(index, nil, key, nil, isPromised: true)
        coverage.note(.deleted)
    }

    private mutating func change(
        _ index: Int, _ value: SettingValue?, _ key: RecordKey, _ property: String?, isPromised: Bool
    ) {
        let physical = hosts[index].physical(at: now)
        let moment = hosts[index].clock.now(at: now)
        let wall = hosts[index].clock.wall(at: now).millisecondsSince1970
        let boot = hosts[index].clock.boot
        doubtCalendar(of: index)
        let stamp = hosts[index].store.commit {
            $0.write(value, key, property, physical: physical, wall: wall, boot: boot, at: moment)
        }
        note("\(hosts[index].name): \(key.name).\(property ?? "deleted") = \(value.map { "\($0)" } ?? "") of \(stamp)")
        if killsHost == index {
            killsHost = nil
            coverage.note(.storeKilled)
            judge.overwrites(key, property, by: index)
            crash(index, reboots: false)
            return
        }
        hosts[index].store.sync()
        if isPromised {
            judge.acknowledges(value, of: key, property, stamp: stamp, by: index, in: recordsZone(of: index))
        }
        sync(index, .triggered(.localChange))
    }

    /// Whose records a host has: what is deleted between joining a zone and first reaching it counts in the zone before.
    /// Nil before it has reached any: all of that is its own, and comes along.
    func recordsZone(of index: Int) -> Int? {
        let known = hosts[index].store.value.zone
        return server.store.value.zones.firstIndex { $0.id.description == known }
    }

    // MARK: Meters

    private mutating func want(_ index: Int, _ meter: Int) {
        want(
            index, meter,
            LeaseIntent(isTakeover: rng.happens(onceIn: 4), waitsInLine: rng.happens(onceIn: 3), isAsked: true))
    }

    mutating func want(_ index: Int, _ meter: Int, _ intent: LeaseIntent) {
        if intent.isTakeover { hosts[index].takeoverWishes[meter] = hosts[index].clock.now(at: now) }
        hosts[index].store.commit { $0.wants[meter] = true }
        hosts[index].store.sync()
        note("\(hosts[index].name): wants meter \(meter)\(intent.isTakeover ? ", takes over" : "")")
        perform(hosts[index].leases[meter].wanted(intent, at: hosts[index].clock.now(at: now)), index, meter)
    }

    private mutating func unwant(_ index: Int, _ meter: Int) {
        hosts[index].store.commit { $0.wants[meter] = false }
        hosts[index].store.sync()
        note("\(hosts[index].name): lets go of meter \(meter)")
        perform(hosts[index].leases[meter].unwanted(at: hosts[index].clock.now(at: now)), index, meter)
    }

    private mutating func breakLink(_ index: Int, _ meter: Int) {
        guard case .open(let channel) = hosts[index].channels[meter] else { return }
        channelClosed(index, meter, channel)
    }
}
