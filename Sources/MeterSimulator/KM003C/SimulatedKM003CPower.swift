import Domain
import MeterCodec

/// USB PD messages that a KM003C captures (Docs/Protocols/KM003C.md#simulator). First a phone charges at a fixed and a
/// programmable voltage, then a laptop in the extended range. The messages repeat every ten minutes.
struct SimulatedKM003CPower: Sendable {
    /// Maximum size of waiting events in bytes; the oldest are dropped. With the measurements, this is the longest
    /// payload that a decoder accepts (`KM003CPayloadHeader.isPlausible`). A real meter's limit is unknown.
    private static let longest = 288

    private var waiting: [[UInt8]] = []
    private var told = 0

    mutating func advance(to time: Duration) {
        let now = Int(clamping: time.milliseconds)
        let script = PDScript.twoVisits
        // Skip events from before the previous cycle: newer ones would replace them anyway.
        told = max(told, (now / PDScript.cycle - 1) * script.events.count)
        while true {
            let (cycle, place) = told.quotientAndRemainder(dividingBy: script.events.count)
            let event = script.events[place]
            let start = cycle * PDScript.cycle + event.milliseconds
            guard start <= now else { break }
            waiting.append(event.bytes(at: UInt32(truncatingIfNeeded: start)))
            told += 1
        }
        var size = waiting.reduce(0) { $0 + $1.count }
        while size > Self.longest { size -= waiting.removeFirst().count }
    }

    mutating func take() -> [UInt8] {
        defer { waiting = [] }
        return waiting.flatMap { $0 }
    }

    /// Trace of the meter's own state machine: two lists, each with one state and its time in seconds.
    var trace: [UInt8] { told == 0 ? [0, 0] : [5, 0x02, 0, 0, 0, 0, 5, 0x76, 0, 0, 0, 0] }

    struct Supply: Hashable, Sendable {
        /// CC line through which a device is connected; nil without a device.
        var line: CCLine?
        var voltage_mV: Int

        /// Converts a load at 5 V to the contract's voltage at the same power.
        func feeding(_ load: ElectricalLoad.State) -> ElectricalLoad.State {
            var state = load
            let factor = Double(voltage_mV) / 5000
            state.voltage *= factor
            state.current = factor > 0 ? load.current / factor : 0
            return state
        }

        /// Voltages of CC1 and CC2, as captured with a source that offers 3 A, and without a plug (session
        /// orig_with_pd.13, okhsunrog/km003c-protocol-research).
        var cc_mV: (Int, Int) {
            switch line {
            case .cc1: (1652, 2)
            case .cc2: (2, 1652)
            case nil: (3237, 124)
            }
        }
    }

    static func supply(at time: Duration) -> Supply {
        let now = Int(clamping: max(.zero, time).milliseconds) % PDScript.cycle
        return PDScript.twoVisits.supplies.last { $0.milliseconds <= now }?.supply ?? Supply(line: nil, voltage_mV: 0)
    }
}

private struct PDScript {
    /// Duration of one cycle in milliseconds.
    static let cycle = 600_000

    struct Event: Sendable {
        var milliseconds: Int
        var kind: Kind

        enum Kind: Sendable {
            case plug(UInt8)
            case message(sop: UInt8, [UInt8])
        }

        func bytes(at clock: UInt32) -> [UInt8] {
            var bytes: [UInt8] = []
            switch kind {
            case .plug(let code):
                bytes.appendLE(clock & 0xFF_FFFF)
                return [0x45] + bytes + [code]
            case .message(let sop, let wire):
                bytes.appendLE(clock)
                bytes.append(sop)
                bytes += wire
                return [0x80 | UInt8(clamping: bytes.count)] + bytes
            }
        }
    }

    private(set) var events: [Event] = []
    private(set) var supplies: [(milliseconds: Int, supply: SimulatedKM003CPower.Supply)] = []
    private var now = 0
    private var ids: [Sender: UInt8] = [:]

    private enum Sender: Hashable { case source, sink, sourceToCable, cable }

    static let twoVisits: PDScript = {
        var script = PDScript()
        script.visitOfAPhone()
        script.visitOfALaptop()
        return script
    }()

    // MARK: The visits

    /// Offers of a captured charger (km003c-rs, km003c-lib/tests/pd_tests.rs).
    private static let offers =
        [0x0801_912C, 0x0002_D12C, 0x0003_C12C, 0x0004_B12C, 0x0006_4145, 0xC0DC_213C] as [UInt32]

    private mutating func visitOfAPhone() {
        plugIn(.cc1, at: 0)
        askCable(0x0008_2050, after: 150)
        // As captured: two unacknowledged offers, because the phone is not ready yet.
        offer(Self.offers, isAcknowledged: false, after: 40)
        offer(Self.offers, isAcknowledged: false, after: 2)
        offer(Self.offers, after: 150)
        request([0x1304_B12C], volts: 5000)
        now = 10_000
        // The captured request: 2.2 A at 9 V.
        request([0x2303_70DC], volts: 9000)
        // A sink must request a programmable voltage again within ten seconds (USB PD specification 3.1, 6.6.17).
        for step in 0..<30 {
            let volts = 8400 + 40 * min(step, 15)
            now = 20_000 + step * 9000
            request([6 << 28 | 3 << 24 | UInt32(volts / 20) << 9 | 40], volts: volts)
        }
        unplug(.cc1, at: 296_000)
    }

    /// Offers, request and messages of the extended range that a KM003C captured (elagil/usbpd,
    /// usbpd/src/protocol_layer/message/epr_messages_test.rs and usbpd/src/dummy.rs), but with an adjustable voltage
    /// instead of 36 V and 48 V.
    private static let laptopOffers =
        [0x0A91_912C, 0x0012_D12C, 0x0013_C12C, 0x0014_B12C, 0x0016_41F4, 0xC9A4_3264] as [UInt32]
    private static let extendedOffers = laptopOffers + [0, 0x0018_C1F4, 0xD230_968C]

    private mutating func visitOfALaptop() {
        plugIn(.cc2, at: 300_000)
        askCable(0x000A_2650, after: 150)
        offer(Self.laptopOffers, after: 40)
        request([0x53C7_D1F4], volts: 20_000)
        data(10, [0x0100_0000], from: .sink, after: 200)
        data(10, [0x0200_0000], from: .source, after: 4)
        askCable(0x000A_2650, after: 4)
        data(10, [0x0300_0000], from: .source, after: 4)
        offerExtendedRange()
        request([0x80C7_D1F4, 0x0018_C1F4], volts: 28_000)
        for step in 0..<27 {
            let time = 312_000 + step * 10_000
            keepAlive(until: time)
            now = time
            let volts = 24_000 + 500 * (step % 4)
            request([9 << 28 | 0x00C0_0000 | UInt32(volts / 25) << 9 | 80, 0xD230_968C], volts: volts)
        }
        keepAlive(until: 580_000)
        data(10, [0x0500_0000], from: .sink, after: 100)
        offer(Self.laptopOffers, after: 4)
        request([0x53C7_D1F4], volts: 20_000)
        unplug(.cc2, at: 596_000)
    }

    // MARK: What is said

    private mutating func plugIn(_ line: CCLine, at time: Int) {
        now = time
        ids = [:]
        events.append(Event(milliseconds: now, kind: .plug(UInt8(line.rawValue) << 4 | 1)))
        supplies.append((now, .init(line: line, voltage_mV: 5000)))
    }

    private mutating func unplug(_ line: CCLine, at time: Int) {
        now = time
        events.append(Event(milliseconds: now, kind: .plug(UInt8(line.rawValue) << 4 | 2)))
        supplies.append((now, .init(line: nil, voltage_mV: 0)))
    }

    /// - Parameter cable: VDO (Vendor Defined Object) that describes the cable (Linux, include/linux/usb/pd_vdo.h,
    ///   VDO_CABLE).
    private mutating func askCable(_ cable: UInt32, after pause: Int) {
        data(15, [0xFF00_A001], from: .sourceToCable, after: pause)
        data(15, [0xFF00_A041, 0x1800_FFFF, 0, 0, cable], from: .cable, after: 3)
    }

    private mutating func offer(_ offers: [UInt32], isAcknowledged: Bool = true, after pause: Int) {
        data(PDHeader.sourceCapabilities, offers, from: .source, isAcknowledged: isAcknowledged, after: pause)
    }

    /// Adds the source's offers, 36 bytes: 26 in the first chunk, 10 on the laptop's request.
    private mutating func offerExtendedRange() {
        let list = Self.bytes(Self.extendedOffers)
        extended(17, 0x8000 | UInt16(list.count), Array(list.prefix(26)), from: .source, after: 10)
        extended(17, 0x8C00, [0, 0], from: .sink, after: 4)
        extended(17, 0x8800 | UInt16(list.count), Array(list.dropFirst(26)), from: .source, after: 4)
    }

    private mutating func request(_ objects: [UInt32], volts: Int) {
        data(objects.count == 1 ? PDHeader.request : PDHeader.extendedRangeRequest, objects, from: .sink, after: 4)
        control(PDHeader.accept, from: .source, after: 3)
        guard let supply = supplies.last?.supply else { return }
        supplies.append((now + 20, .init(line: supply.line, voltage_mV: volts)))
        control(PDHeader.supplyReady, from: .source, after: 36)
    }

    /// Adds a keep-alive every half second, as the extended range requires (USB PD specification 3.1, 6.6.21.3).
    private mutating func keepAlive(until end: Int) {
        while now + 400 < end {
            extended(16, 0x8002, [3, 0], from: .sink, after: 370)
            extended(16, 0x8002, [4, 0], from: .source, after: 3)
        }
    }

    private mutating func control(_ type: UInt8, from sender: Sender, after pause: Int) {
        say(
            PDHeader(type: type, id: id(of: sender), objectCount: 0, isSource: sender == .source), [], sender,
            after: pause)
    }

    private mutating func data(
        _ type: UInt8, _ objects: [UInt32], from sender: Sender, isAcknowledged: Bool = true, after pause: Int
    ) {
        let header = PDHeader(
            type: type, id: id(of: sender), objectCount: objects.count, isSource: sender == .source)
        say(header, Self.bytes(objects), sender, isAcknowledged: isAcknowledged, after: pause)
    }

    private mutating func extended(
        _ type: UInt8, _ second: UInt16, _ data: [UInt8], from sender: Sender, after pause: Int
    ) {
        var body: [UInt8] = []
        body.appendLE(second)
        body += data
        let header = PDHeader(
            type: type, id: id(of: sender), objectCount: body.count / 4, isSource: sender == .source, isExtended: true)
        say(header, body, sender, after: pause)
    }

    private func id(of sender: Sender) -> UInt8 { ids[sender] ?? 0 }

    /// Appends a message and its acknowledgement, which, as captured, has the message's number but the receiver's
    /// revision.
    private mutating func say(
        _ header: PDHeader, _ body: [UInt8], _ sender: Sender, isAcknowledged: Bool = true, after pause: Int
    ) {
        now += pause
        let sop: UInt8 = sender == .source || sender == .sink ? 0 : 1
        append(header, body, sop, isPlug: sender == .cable)
        guard isAcknowledged else { return }
        ids[sender] = (id(of: sender) + 1) & 7
        now += 1
        let receipt = PDHeader(
            type: PDHeader.goodCRC, id: UInt8(header.id), objectCount: 0, isSource: sender == .sink,
            revision: sender == .sink ? 1 : 2)
        append(receipt, [], sop, isPlug: sender == .sourceToCable)
    }

    private mutating func append(_ header: PDHeader, _ body: [UInt8], _ sop: UInt8, isPlug: Bool) {
        var wire: [UInt8] = []
        wire.appendLE(header.word | (isPlug ? 0x0100 : 0))
        events.append(Event(milliseconds: now, kind: .message(sop: sop, wire + body)))
    }

    private static func bytes(_ words: [UInt32]) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in words { bytes.appendLE(word) }
        return bytes
    }
}
