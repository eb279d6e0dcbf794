import Domain
import Gateway
import LinuxIO
import SimulatedCloud

/// The sessions of a host, without meters: asks the gate for links, uses them as long as it may, and lets go.
///
/// Under `strict` every exchange with a meter is written down, at the moment at which the permission was looked at.
actor MeterDriver {
    private struct Link {
        var permit: LeasePermit?
        var isUp = false
        /// When it is let go of.
        var until: MonotonicTime
        /// What is measured, for those who watch.
        let readings = Feed<TimedReading>()
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: IOLoop
    private let gate: LeaseKeeper
    private let journal: Journal
    private let zone: String
    private let generations: Generations
    private var rng: SimulationRNG
    private var links: [MeterID: Link] = [:]
    private var isOver = false
    /// A planted bug: once permitted, a meter is used until it is let go of, whatever becomes of the permission.
    private let usesOn: Bool

    init(
        _ gate: LeaseKeeper, loop: IOLoop, journal: Journal, zone: String, generations: Generations, rng: SimulationRNG,
        usesOn: Bool
    ) {
        self.usesOn = usesOn
        (self.gate, self.loop, self.journal, self.zone) = (gate, loop, journal, zone)
        (self.generations, self.rng) = (generations, rng)
    }

    /// Until `end`.
    func run() async {
        while !isOver {
            // Cancelled, it is over at once, which is as good.
            try? await Task.sleep(for: rng.milliseconds(30...70))
            exchange()
            let now = loop.now
            for (meter, link) in links where link.until < now { letGo(meter) }
            if links.count < 3, rng.happens(permille: 250) { wantOne() }
        }
        for meter in links.keys { letGo(meter) }
    }

    func end() { isOver = true }

    private func wantOne() {
        guard let meter = rng.pick(generations.meters(of: zone, at: loop.now)), links[meter] == nil else { return }
        // Most are used for a moment, some for as long as several renewals take.
        let isLong = usesOn || rng.happens(permille: 150)
        let time = isLong ? rng.milliseconds(20_000...90_000) : rng.milliseconds(300...4000)
        links[meter] = Link(until: loop.now + time)
        gate.attach(meter) { [weak self] verdict in
            self?.assumeIsolated { $0.heard(verdict, of: meter) }
        }
        let wish = LeaseIntent(isTakeover: rng.happens(permille: 120), waitsInLine: false, isAsked: true)
        gate.ask(for: meter, wish, over: .usb, isUp: false)
    }

    private func heard(_ verdict: LinkVerdict, of meter: MeterID) {
        guard var link = links[meter] else { return }
        switch verdict {
        case .permitted(let permission):
            if case .leased(let permit) = permission { link.permit = permit } else { link.permit = nil }
            let wasUp = link.isUp
            link.isUp = true
            links[meter] = link
            if !wasUp { gate.linkUp(meter) }
        case .refused, .barred: break
        case .withdrawn where usesOn: break
        case .withdrawn:
            (link.permit, link.isUp) = (nil, false)
            link.until = loop.now
            links[meter] = link
            gate.channelClosed(meter, .letGo)
        }
    }

    private func letGo(_ meter: MeterID) {
        guard let link = links.removeValue(forKey: meter) else { return }
        link.readings.finish()
        if link.isUp { gate.channelClosed(meter, .letGo) }
        gate.cancel(meter)
        gate.attach(meter, tell: nil)
    }

    /// A meter with a link, for those who watch it elsewhere.
    func source(of meter: MeterID) -> RelaySource? {
        links[meter].map { RelaySource(meter: meter, readings: $0.readings) { (nil, nil) } }
    }

    private func exchange() {
        for (meter, link) in links {
            guard let permit = link.permit else { continue }
            measure(link, permit)
            guard permit.terms.policy == .strict else { continue }
            let now = loop.now
            guard now < permit.hardStopAt || usesOn else { continue }
            journal.use(meter, in: zone, by: gate.identity.host, permit.token, at: now)
        }
    }
}

extension MeterDriver {
    private func measure(_ link: Link, _ permit: LeasePermit) {
        guard link.isUp else { return }
        var reading = Reading()
        reading[.voltage] = MeterWatcher.mark(permit.token)
        link.readings.yield(TimedReading(wallTime: loop.wallNow, time: loop.now, reading: reading))
    }
}

/// Which meters there are at which time: new ones every now and then, so that each has a history of a length that can be
/// judged.
struct Generations: Sendable {
    /// On the boot-time clock.
    let origin: MonotonicTime
    let length: Duration

    func number(at time: MonotonicTime) -> Int { Int((time - origin) / length) }

    func meters(of zone: String, at time: MonotonicTime) -> [MeterID] {
        (1...10).map { .usb(vendor: 0x0484, product: 1, serial: "\(zone)-\(number(at: time))-\($0)") }
    }
}
