import BlueZTransport
import BluetoothCore
package import Domain
package import ESPHomeCore
package import Gateway
package import GatewayAPI
package import LinuxIO
package import Logging

/// This host's Bluetooth proxies. Keeps each proxy connected, reports the meters in its range, and opens links through
/// it.
///
/// Implements the protocols of Bluetooth adapters, with a proxy's radio address as the adapter's address.
package actor Proxies: RadioSource, RadioSlots {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: IOLoop
    private nonisolated let logger: Logger
    private nonisolated let makeRNG: @Sendable () -> any RandomNumberGenerator
    private var proxies: [PresentProxy]
    private var sightings = RadioSightings(timing: .continuous)
    private var demands = DemandSource()
    private var remedied: @Sendable (AdapterRemedy) -> Void = { _ in }
    private var changed: @Sendable () -> Void = {}
    private var report: (@Sendable (SightingEvent) -> Void)?
    private var alarm: Alarm
    private var expiresAt = MonotonicTime.origin
    private var lastMoment: LoopTimer?
    /// Maximum duration for which links stay open after the end of `run`.
    private static let lastWords = Duration.seconds(3)
    /// Interval of checks for meters that stopped advertising.
    private static let expiryInterval = Duration.seconds(5)
    private static let byHand = Duration.seconds(5)
    /// Timeout from the established link until the subscription to the meter's serial characteristic.
    private static let setUpLimit = Duration.seconds(30)

    package init(
        _ settings: [NodeSettings], loop: IOLoop, makeRNG: @escaping @Sendable () -> any RandomNumberGenerator,
        logger: Logger
    ) {
        self.loop = loop
        self.makeRNG = makeRNG
        self.logger = logger
        alarm = Alarm(on: loop)
        let since = loop.wallNow
        proxies = settings.map { PresentProxy($0, since: since) }
    }

    // MARK: Life

    package func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async {
        self.report = report
        for place in proxies.indices { update(place) { machine, _ in machine.begin() } }
        for await _ in AsyncStream<Never>.makeStream().stream {}
        self.report = nil
        // Keep the loop running: the meters' sessions end later than `run`, and send their last commands through these
        // links.
        loop.hold()
        lastMoment = loop.schedule(at: loop.now + Self.lastWords) {
            // Capture `self` strongly: it retains the loop, which must exist until this call.
            self.assumeIsolated { $0.shut() }
        }
        shutIfUnused()
    }

    private func shutIfUnused() {
        if lastMoment != nil, proxies.allSatisfy(\.owners.isEmpty) { shut() }
    }

    private func shut() {
        guard let timer = lastMoment else { return }
        lastMoment = nil
        loop.cancel(timer)
        for place in proxies.indices { update(place) { machine, _ in machine.farewell() } }
        alarm.cancel()
        loop.letGo()
    }

    // MARK: Report

    package func adapters() -> [AdapterStatus] {
        let now = loop.now
        return proxies.indices.map { place in
            guard let address = proxies[place].address else {
                return proxies[place].status(at: now, heard: 0, dropped: 0)
            }
            let (heard, dropped) = (
                sightings.count(heardBy: address, at: now), sightings.droppedCount(heardBy: address, at: now)
            )
            return proxies[place].status(at: now, heard: heard, dropped: dropped)
        }
    }

    package func others() -> [ScanOther] { sightings.passedOver(at: loop.now).map { ScanOther($0) } }

    package func support() -> SupportRadios {
        SupportRadios(
            adapters: [], advertisements: sightings.heard.map { SupportRadios.Advertisement($0) },
            strangers: sightings.strangerCount, management: [])
    }

    // MARK: Demand

    package func follow(
        _ demand: @escaping @Sendable () -> RadioDemand, remedied: @escaping @Sendable (AdapterRemedy) -> Void,
        changed: @escaping @Sendable () -> Void
    ) {
        (self.remedied, self.changed) = (remedied, changed)
        demands.follow(demand)
        lookAtDemand()
    }

    package func demandChanged() { lookAtDemand() }

    package func sought() {
        demands.sought(until: loop.now + Self.byHand)
        lookAtDemand()
    }

    private func lookAtDemand() {
        let now = loop.now
        let demand = demands.current(at: now)
        for place in proxies.indices {
            let needed = demand(proxies[place].address)
            let isSought = !needed.missing.isDisjoint(with: .lowEnergy) || needed.byHandUntil != nil
            update(place) { machine, _ in machine.demandChanged(isSought: isSought) }
        }
    }

    // MARK: Links

    package nonisolated func has(_ adapter: MACAddress) -> Bool {
        assumeIsolated { $0.place(of: adapter) != nil }
    }

    package nonisolated func take(_ link: RadioLink, over transport: LinkAddress.Transport) -> ChannelFailure? {
        assumeIsolated { proxies in
            guard transport == .ble, let place = proxies.place(of: link.adapter) else {
                return ChannelFailure(.adapter, "The proxy \(link.adapter), which heard the meter, is not there.")
            }
            return proxies.proxies[place].machine.refusal(of: link.address).map {
                ChannelFailure($0.isFull ? .busy : .adapter, $0.message)
            }
        }
    }

    package nonisolated func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport) { lookAtDemandSoon() }
    package nonisolated func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport) { lookAtDemandSoon() }

    /// Updates each proxy's scan demand in the loop's next turn, after the meters have handled the current event.
    private nonisolated func lookAtDemandSoon() {
        loop.execute { [weak self] in self?.assumeIsolated { $0.lookAtDemand() } }
    }

    package nonisolated func open(
        _ link: RadioLink, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        let packets = ProxyPackets(link, over: self)
        return GATTSerialChannel.open(
            link, slots: self, on: loop, setUpLimit: Self.setUpLimit, knowing: { packets.known },
            packets: { happened in
                packets.begin(happened)
                loop.execute { [weak self] in self?.assumeIsolated { $0.connect(packets) } }
                return packets
            }, handle: handle)
    }

    private func connect(_ packets: ProxyPackets) {
        let link = packets.link
        guard packets.isWanted else { return }
        guard let place = place(of: link.adapter), proxies[place].machine.isRunning, report != nil else {
            return packets.ended(.proxied(link.address, over: "\(link.adapter)", .proxyGone))
        }
        proxies[place].owners[link.address] = packets
        update(place) { machine, now in machine.connect(link, at: now) }
    }

    func send(_ packet: [UInt8], over link: RadioLink) {
        guard let place = place(of: link.adapter) else { return }
        update(place) { machine, _ in machine.send(packet, to: link.address) }
    }

    func leave(_ packets: ProxyPackets) {
        let address = packets.link.address
        // Skip if a newer channel to the same meter owns the link.
        guard let place = place(of: packets.link.adapter), proxies[place].owners[address] === packets else { return }
        proxies[place].owners[address] = nil
        update(place) { machine, now in machine.leave(address, at: now) }
        shutIfUnused()
    }

    /// Index of the adapter's proxy. If one node is configured under two host names, prefers the running one.
    private func place(of adapter: MACAddress) -> Int? {
        let isOf = { (proxy: PresentProxy) in proxy.address == adapter }
        return proxies.firstIndex { isOf($0) && $0.machine.isRunning } ?? proxies.firstIndex(where: isOf)
    }

    // MARK: Machines

    private func update(_ place: Int, _ event: (inout ProxyMachine, MonotonicTime) -> [ProxyAction]) {
        let now = loop.now
        for action in event(&proxies[place].machine, now) { perform(action, of: place, at: now) }
        stateChanged(place, at: now)
        rearm()
    }

    private func perform(_ action: ProxyAction, of place: Int, at now: MonotonicTime) {
        switch action {
        case .open: open(place)
        case .send(let bytes): proxies[place].connection?.send(bytes)
        case .close:
            proxies[place].connection?.close()
            proxies[place].connection = nil
        case .heard(let list): heard(list, by: place, at: now)
        case .link(let address, let event): happened(event, to: address, over: place)
        case .noteRetry(let cause):
            logger.info("proxy reconnect started", metadata: metadata(of: place, cause: cause))
            guard let address = proxies[place].address else { return }
            remedied(AdapterRemedy(adapter: address, words: "the proxy is connected to again", cause: cause))
        case .noteRecovered: logger.info("proxy recovered", metadata: proxies[place].metadata)
        }
    }

    private func happened(_ event: ProxyLinkEvent, to address: MACAddress, over place: Int) {
        let owner = proxies[place].owners[address]
        switch event {
        case .up(let database, let mtu): owner?.opened(GATTSerialChannel.Known(database: database, mtu: mtu))
        case .packet(let packet): owner?.received(packet)
        case .down(let end):
            proxies[place].owners[address] = nil
            owner?.ended(.proxied(address, over: proxies[place].settings.display, end))
            shutIfUnused()
        }
    }

    private func stateChanged(_ place: Int, at now: MonotonicTime) {
        // Report only real changes, because this runs for each advertisement.
        defer { if proxies[place].takeNews() { changed() } }
        if proxies[place].noteScanning(at: now), let address = proxies[place].address {
            sightings.discovering(.lowEnergy, isOn: proxies[place].isScanning, by: address, at: now)
            if !proxies[place].machine.isRunning {
                let machine = proxies[place].machine
                tell(sightings.adapterLost(address) { machine.isLinked($0.device.address) })
            }
        }
        guard let before = proxies[place].showState(at: now, since: loop.wallNow) else { return }
        var metadata = metadata(of: place, cause: proxies[place].machine.trouble)
        metadata["state"] = "\(proxies[place].state.rawValue)"
        metadata["before"] = "\(before.rawValue)"
        let isRoutine = [proxies[place].state, before].allSatisfy { [.searching, .idle, .starting].contains($0) }
        logger.log(level: isRoutine ? .debug : .warning, "proxy state changed", metadata: metadata)
    }

    private func metadata(of place: Int, cause: String?) -> Logger.Metadata {
        var metadata = proxies[place].metadata
        if let cause { metadata["cause"] = "\(cause)" }
        return metadata
    }

    // MARK: The connection

    private func open(_ place: Int) {
        let settings = proxies[place].settings
        let link = TCPLink(host: settings.host, port: settings.port)
        proxies[place].connection = DescriptorChannel.open(link, on: loop) { [weak self] event in
            self?.assumeIsolated { $0.happened(event, on: place) }
        }
    }

    private func happened(_ event: ChannelEvent, on place: Int) {
        switch event {
        case .opened:
            do throws(APIFault) {
                let security = try proxies[place].settings.security(makeRNG())
                update(place) { machine, now in machine.opened(security, at: now) }
            } catch {
                update(place) { machine, now in machine.closed(error, at: now) }
            }
        case .received(let bytes): update(place) { machine, now in machine.received(bytes, at: now) }
        case .closed(let failure):
            proxies[place].connection = nil
            let what = failure.code == .stalled ? "takes no bytes" : failure.message
            update(place) { machine, now in machine.closed(.ended(what), at: now) }
        }
    }

    // MARK: Air

    private func heard(_ list: [ProtoMessage<RawAdvertisement>], by place: Int, at now: MonotonicTime) {
        guard let adapter = proxies[place].address else { return }
        for one in list where one.data.count <= Self.advertisementMax {
            let kind: RadioAddress.Kind = one.addressType & 1 == 0 ? .lePublic : .leRandom
            let address = RadioAddress(MACAddress(bits: one.address), kind)
            // Values outside -127 to -1 mean an unknown signal strength.
            let rssi = (-127..<0).contains(one.rssi) ? one.rssi : nil
            let event = one.data.withUnsafeBytes { data in
                sightings.heard(DeviceReport(address, rssi: rssi, data: data), by: adapter, at: now)
            }
            if let event { tell([event]) }
        }
    }

    /// Maximum length of an advertisement with its scan response: 31 bytes each.
    private static let advertisementMax = 62

    // MARK: Time

    private func rearm() {
        guard report != nil || lastMoment != nil else { return }
        let next = proxies.compactMap(\.machine.nextWake).reduce(expiresAt, min)
        alarm.set(to: next) { [weak self] in self?.assumeIsolated { $0.woke() } }
    }

    private func woke() {
        alarm.rang()
        guard report != nil || lastMoment != nil else { return }
        let now = loop.now
        for place in proxies.indices where proxies[place].machine.nextWake.map({ $0 <= now }) == true {
            update(place) { machine, now in machine.woke(at: now) }
        }
        if now >= expiresAt {
            expiresAt = now + Self.expiryInterval
            lookAtDemand()
            let all = proxies
            tell(
                sightings.expire(at: now) { sighting in
                    all.contains { $0.address == sighting.adapter && $0.machine.isLinked(sighting.device.address) }
                })
            for place in proxies.indices { stateChanged(place, at: now) }
        }
        rearm()
    }

    private func tell(_ events: [RadioSightingEvent]) {
        guard let report else { return }
        for event in events { report(SightingEvent(event)) }
    }
}

/// Opens links over Bluetooth LE: through the proxy that received the meter's advertisement, otherwise through this
/// machine's own radios.
package struct ProxyChannelOpener: ChannelOpener {
    private let proxies: Proxies
    private let local: (any ChannelOpener)?
    private let loop: IOLoop

    /// - Parameter local: nil if this machine's radios are not used.
    package init(_ proxies: Proxies, else local: (any ChannelOpener)?, on loop: IOLoop) {
        (self.proxies, self.local, self.loop) = (proxies, local, loop)
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        if case .ble(let radio) = link, local == nil || proxies.has(radio.adapter) {
            return proxies.open(radio, handle: handle)
        }
        if let local { return local.open(link, as: line, handle: handle) }
        return RefusedChannel(
            ChannelFailure(.adapter, "A Bluetooth proxy makes no links over Bluetooth Classic."), loop: loop, handle)
    }
}
