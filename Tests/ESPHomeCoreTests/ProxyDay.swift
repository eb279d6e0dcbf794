import BluetoothCore
import Domain
import ESPHomeCore
import MeterCodec
import MeterSimulator
import SimulatedPort

/// A host, a proxy and two meters over virtual time, with a network between them that takes its time and has outages.
///
/// It looks at the bytes between the two, and keeps what is wrong in `findings`.
struct ProxyDay {
    /// A fault of the host that is put in on purpose, so that what finds it is known to work.
    enum Bug: CaseIterable {
        /// The host never ends a link at the proxy.
        case keepsLinks
        /// The host connects as soon as it is connected itself.
        case connectsUnasked
        /// The host mislays some of what a meter tells.
        case losesPackets
    }

    static let meters = [ProxyBench.meter, ProxyBench.other]

    private(set) var now = MonotonicTime.origin
    private var machine = ProxyMachine(NodeSettings(host: "garage.local"))
    private var proxy: SimulatedProxy
    private var random: SplitMix64
    private let bug: Bug?
    private var client: SimulatedProxy.Client?
    private var lines: [MACAddress: Line] = [:]
    private(set) var findings: [String] = []
    private(set) var tally = Tally()

    // The network: what is on its way, in order, each way.
    private var toProxy: [(at: MonotonicTime, from: SimulatedProxy.Client, bytes: [UInt8]?)] = []
    private var toHost: [(at: MonotonicTime, what: SimulatedProxy.Output)] = []
    private var cutUntil = MonotonicTime.origin
    private var losesUntil = MonotonicTime.origin
    /// Slots as the host was told last.
    private var slotsTold: Set<UInt64> = []
    /// What these still have on its way is dropped.
    private var cutOff: Set<SimulatedProxy.Client> = []
    /// Another client has the proxy until then.
    private var stranger: (client: SimulatedProxy.Client, until: MonotonicTime)?
    private var faultsUntil = MonotonicTime.origin
    private var nextTrouble = MonotonicTime.origin + .seconds(300)
    private var nextLook = MonotonicTime.origin
    /// Slots of links that the host does not know, and since when.
    private var orphans: [UInt64: MonotonicTime] = [:]

    struct Tally: Hashable {
        /// Bytes of meters: told by the proxy; never arrived, because the connection ended; without a link that wants them;
        /// handed on; left over at a link's end, of an answer that was not complete.
        var told = 0, undelivered = 0, unwanted = 0, passed = 0, cutOff = 0
        var frames = 0
        var ups = 0
        var ends: Set<ProxyLinkEnd> = []
        var troubles: Set<Int> = []
    }

    /// A meter's session: it wants its link always, and makes it anew when it fails.
    private struct Line {
        var driver: any MeterDriver
        var gatt = GATTSerialMachine()
        var phase = Phase.waiting(until: .origin)
        var isOpen = false
        var asked = MonotonicTime.origin
        var heard = MonotonicTime.origin
        /// Bytes since the last whole frame.
        var rest = 0

        enum Phase: Hashable {
            case waiting(until: MonotonicTime)
            case connecting(since: MonotonicTime)
            case up
        }
    }

    static let frameLength = 130

    init(seed: UInt64, bug: Bug? = nil) {
        random = SplitMix64(seed: seed)
        self.bug = bug
        var options = SimulatedProxy.Options()
        options.advertisingInterval = .seconds(10)
        proxy = SimulatedProxy(
            options,
            meters: Self.meters.compactMap { address in
                SimulatorCatalogue.standard.meter(.um25c, over: .ble).map {
                    SimulatedRadioMeter($0, address: address, isRandom: address == ProxyBench.other)
                }
            })
    }

    // MARK: Time

    mutating func run(_ time: Duration) {
        perform(machine.begin())
        pass(time)
        // No faults any more: all that is told arrives, and all that was taken is given back.
        (nextTrouble, faultsUntil, cutUntil) = (now + .seconds(86_400), now, now)
        stranger.map { proxy.ended($0.client) }
        (stranger, proxy.options.faults, proxy.options.slots) = (nil, [], 3)
        tell(proxy.reboot())
        pass(.seconds(360))
        expect(lines.values.allSatisfy(\.isOpen) && lines.count == 2, "a meter is not read at the end")
        for address in Self.meters { leave(address, retryAfter: .seconds(86_400)) }
        pass(.seconds(60))
        expect(proxy.allocated.isEmpty && machine.linkCount == 0, "a slot is taken at the end")
        let missing = tally.told - tally.undelivered - tally.unwanted - tally.passed
        expect(missing == 0, "\(missing) bytes of meters are unaccounted for")
        expect(tally.passed == tally.frames * Self.frameLength + tally.cutOff, "the frames do not add up: \(tally)")
    }

    private mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = nextEvent, next <= end, findings.isEmpty {
            now = max(now, next)
            step()
        }
        now = end
    }

    private var nextEvent: MonotonicTime? {
        let network = [toProxy.first?.at, toHost.first?.at].compactMap { $0 }.map { max($0, cutUntil) }
        let own = [
            machine.nextWake, proxy.nextDue.map { MonotonicTime.origin + $0 }, nextTrouble, nextLook, stranger?.until,
        ]
        return (network + own.compactMap { $0 }).min()
    }

    private mutating func step() {
        while cutUntil <= now, let first = toProxy.first, first.at <= now {
            toProxy.removeFirst()
            if let bytes = first.bytes { arrive(bytes, from: first.from) } else { proxy.ended(first.from) }
        }
        tell(proxy.due(at: now.sinceOrigin))
        while cutUntil <= now, let first = toHost.first, first.at <= now {
            toHost.removeFirst()
            deliver(first.what)
        }
        if let wake = machine.nextWake, wake <= now { perform(machine.woke(at: now)) }
        if let taken = stranger, taken.until <= now {
            proxy.ended(taken.client)
            stranger = nil
        }
        if nextTrouble <= now { makeTrouble() }
        if nextLook <= now {
            nextLook = now + .seconds(5)
            for address in Self.meters { look(address) }
            lookAtSlots()
        }
    }

    private mutating func expect(_ holds: Bool, _ words: String) {
        if !holds { findings.append("after \(now.sinceOrigin.shortText): \(words)") }
    }

    private mutating func duration(_ seconds: ClosedRange<Int>) -> Duration {
        .seconds(Int.random(in: seconds, using: &random))
    }

    // MARK: What goes wrong

    private mutating func makeTrouble() {
        if faultsUntil <= now { proxy.options.faults = [] }
        nextTrouble = now + duration(20...900)
        let meter = Self.meters[Int.random(in: 0...1, using: &random)]
        let kind = Int.random(in: 0...9, using: &random)
        tally.troubles.insert(kind)
        switch kind {
        case 0: tell(proxy.reboot())
        // Wi-Fi is lost: TCP says it all again afterwards, unless the host has given up by then.
        case 1: cutUntil = now + duration(1...60)
        case 2:
            cutUntil = now + duration(100...240)
            guard Bool.random(using: &random) else { return }
            // What the host said meanwhile is lost, and the proxy leaves the links as they are.
            losesUntil = cutUntil
            proxy.options.faults.insert(.linksKept)
            faultsUntil = cutUntil + .seconds(5)
            nextTrouble = max(nextTrouble, faultsUntil)
        case 3:
            guard stranger == nil else { return }
            tell(proxy.reboot())
            let other = proxy.accepted(ephemeral: ProxyBench.key)
            let subscribe = SubscribeAdvertisements.made { $0.flags = 1 }.frame
            _ = proxy.received(FrameWriter.plaintext(subscribe), from: other, at: now.sinceOrigin)
            stranger = (other, now + duration(30...600))
        case 4:
            proxy.options.slots = proxy.options.slots == 1 ? 3 : 1
            tell(proxy.reboot())
        case 5, 6:
            let all: [SimulatedProxy.Fault] = [
                .silent, .notEstablished, .servicesCut, .gattError, .congested, .noMTU, .pingIgnored,
            ]
            proxy.options.faults = Set((0...1).map { _ in all[Int.random(in: all.indices, using: &random)] })
            faultsUntil = now + duration(20...300)
            nextTrouble = min(nextTrouble, faultsUntil)
        case 7: tell(proxy.loseMeter(meter))
        case 8: tell(proxy.loseMeter(meter, isTold: false))
        // A person disconnects, and connects at once.
        default: leave(meter, retryAfter: .zero)
        }
    }

    // MARK: The network

    private mutating func latency() -> Duration {
        // Now and then, Wi-Fi takes its time.
        let longest = Int.random(in: 0..<20, using: &random) == 0 ? 1000 : 80
        return .milliseconds(Int.random(in: 5...longest, using: &random))
    }

    private mutating func send(_ bytes: [UInt8]?, from client: SimulatedProxy.Client) {
        if now < losesUntil, bytes != nil { return }
        toProxy.append((max(now + latency(), toProxy.last?.at ?? now), client, bytes))
    }

    private mutating func tell(_ outputs: [SimulatedProxy.Output]) {
        for output in outputs {
            switch output {
            case .send(_, let bytes): tally.told += Self.meterBytes(in: bytes)
            case .close(let client): cutOff.insert(client)
            }
            toHost.append((max(now + latency(), toHost.last?.at ?? now), output))
        }
    }

    private mutating func arrive(_ bytes: [UInt8], from client: SimulatedProxy.Client) {
        guard !cutOff.contains(client) else { return }
        if let request = Self.request(in: bytes) {
            if bug == .keepsLinks, request.kind == DeviceRequest.disconnect { return }
            let isFair = request.kind != DeviceRequest.connect || proxy.isSubscriber(client)
            expect(isFair, "a connect while another client has the proxy")
        }
        tell(proxy.received(bytes, from: client, at: now.sinceOrigin))
    }

    private mutating func deliver(_ output: SimulatedProxy.Output) {
        switch output {
        case .send(client, let bytes):
            let (count, before) = (Self.meterBytes(in: bytes), tally.passed)
            for case .message(let frame) in Self.frames(in: bytes) where frame.id == ConnectionsFree.id {
                slotsTold = Set(ConnectionsFree.read(frame)?.allocated ?? [])
            }
            perform(machine.received(bytes, at: now))
            tally.unwanted += count - (tally.passed - before)
        case .send(_, let bytes): tally.undelivered += Self.meterBytes(in: bytes)
        case .close(client):
            client = nil
            perform(machine.closed(.ended("closed the connection"), at: now))
        case .close: break
        }
    }

    private static func frames(in bytes: [UInt8]) -> [APIFraming.Piece] {
        var splitter = APIFraming(.plaintext)
        splitter.append(bytes)
        var pieces: [APIFraming.Piece] = []
        while let piece = try? splitter.next() { pieces.append(piece) }
        return pieces
    }

    /// The host seals nothing, and each of its messages is a frame: a zero, the length, the number.
    private static func request(in bytes: [UInt8]) -> ProtoMessage<DeviceRequest>? {
        guard bytes.count > 2, bytes[2] == DeviceRequest.id, case .message(let frame)? = frames(in: bytes).first else {
            return nil
        }
        return DeviceRequest.read(frame)
    }

    private static func meterBytes(in bytes: [UInt8]) -> Int {
        guard bytes.count > 2, bytes[2] == AttributeMessage.Kind.notified.rawValue else { return 0 }
        return frames(in: bytes).reduce(0) { sum, piece in
            guard case .message(let frame) = piece, case (.notified, let message)? = AttributeMessage.read(frame) else {
                return sum
            }
            return sum + message.data.count
        }
    }

    // MARK: The host

    private mutating func perform(_ actions: [ProxyAction]) {
        for action in actions {
            switch action {
            case .open:
                guard cutUntil <= now else {
                    perform(machine.closed(.ended("cannot be reached"), at: now))
                    continue
                }
                (client, slotsTold) = (proxy.accepted(ephemeral: ProxyBench.key), [])
                perform(machine.opened(.plaintext, at: now))
                if bug == .connectsUnasked, let client {
                    let request = DeviceRequest.made {
                        ($0.address, $0.kind, $0.hasAddressType) = (ProxyBench.meter.bits, DeviceRequest.connect, true)
                    }
                    send(FrameWriter.plaintext(request.frame), from: client)
                }
            case .send(let bytes):
                guard let client else { continue }
                if let request = Self.request(in: bytes), request.kind == DeviceRequest.connect {
                    expect(!slotsTold.contains(request.address), "a connect to what has a slot already")
                }
                send(bytes, from: client)
            case .close:
                // The proxy hears of it once the network is there.
                if let client { send(nil, from: client) }
                client = nil
            case .heard, .noteRetry, .noteRecovered: break
            case .link(let address, let event): happened(event, to: address)
            }
        }
    }

    private mutating func happened(_ event: ProxyLinkEvent, to address: MACAddress) {
        guard var line = lines[address] else { return expect(false, "an event of a link that nobody has") }
        switch (event, line.phase) {
        case (.up(let database, let mtu), .connecting):
            (line.phase, line.heard) = (.up, now)
            _ = line.gatt.linkUp(knowing: database, mtu: mtu, at: now)
            tally.ups += 1
            lines[address] = line
            drive(address)
        case (.packet(let packet), .up):
            if bug == .losesPackets, packet.count > 20, Int.random(in: 0..<50, using: &random) == 0 { return }
            received(packet, from: address)
        case (.down(let end), .connecting), (.down(let end), .up):
            tally.ends.insert(end)
            over(address, retryAfter: duration(1...10))
        default: expect(false, "\(event) of \(address), which is \(line.phase)")
        }
    }

    private mutating func received(_ packet: [UInt8], from address: MACAddress) {
        guard var line = lines[address] else { return }
        if case .notification(let value) = try? ATTPDU(packet) { tally.passed += value.value.count }
        switch line.gatt.received(packet) {
        case .opened: line.isOpen = true
        case .deliver(let bytes):
            var frames = 0
            line.driver.receive(bytes) { if case .frame = $0 { frames += 1 } }
            line.rest += bytes.count - frames * Self.frameLength
            tally.frames += frames
            if frames > 0 { line.heard = now }
            expect((0..<Self.frameLength).contains(line.rest), "a reading is lost: \(line.rest) bytes are no frame")
        case .failed:
            lines[address] = line
            return leave(address, retryAfter: duration(1...10))
        case .none: break
        }
        lines[address] = line
        drive(address)
    }

    private mutating func drive(_ address: MACAddress) {
        while let packet = lines[address]?.gatt.nextPDU(at: now) { perform(machine.send(packet, to: address)) }
    }

    /// What a session does by the clock.
    private mutating func look(_ address: MACAddress) {
        guard var line = lines[address] ?? Self.newLine(waitingUntil: now) else { return }
        switch line.phase {
        case .waiting(let until):
            guard now >= until else { break }
            line.phase = .connecting(since: now)
            lines[address] = line
            if machine.refusal(of: address) != nil { return over(address, retryAfter: duration(1...10)) }
            let link = RadioLink(address: address, isRandom: address == ProxyBench.other, adapter: MACAddress(bits: 1))
            return perform(machine.connect(link, at: now))
        case .connecting(let since):
            if now >= since + .seconds(30) { return leave(address, retryAfter: duration(1...10)) }
        case .up:
            _ = line.gatt.woke(at: now)
            if now >= line.heard + .seconds(65) { return leave(address, retryAfter: duration(1...10)) }
            guard line.isOpen, now >= line.asked + .seconds(30) else { break }
            line.asked = now
            _ = line.gatt.send(line.driver.poll())
        }
        lines[address] = line
        drive(address)
    }

    /// The session wants its link no more.
    private mutating func leave(_ address: MACAddress, retryAfter pause: Duration) {
        perform(machine.leave(address, at: now))
        over(address, retryAfter: pause)
    }

    private mutating func over(_ address: MACAddress, retryAfter pause: Duration) {
        tally.cutOff += lines[address]?.rest ?? 0
        lines[address] = Self.newLine(waitingUntil: now + pause)
    }

    private static func newLine(waitingUntil time: MonotonicTime) -> Line? {
        MeterCatalogue.standard.driver(for: .um25c, over: .ble).map { Line(driver: $0, phase: .waiting(until: time)) }
    }

    /// A slot belongs to a link that is up, or on its way or about to end, neither of which takes long.
    private mutating func lookAtSlots() {
        guard machine.isRunning, cutUntil <= now, let client, proxy.isSubscriber(client) else { return orphans = [:] }
        let odd = proxy.allocated.filter { lines[MACAddress(bits: $0)]?.phase != .up }
        orphans = orphans.filter { odd.contains($0.key) }
        for address in odd {
            let since = orphans[address] ?? now
            orphans[address] = since
            expect(now < since + .seconds(90), "a slot without a link")
        }
    }
}
