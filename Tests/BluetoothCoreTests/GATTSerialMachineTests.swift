import BluetoothCore
import CoreTestKit
import Domain
import SimulatedPeripheral
import Testing

struct GATTSerialMachineTests {
    // MARK: Which characteristics

    @Test(arguments: [
        (
            SimulatedPeripheral.Layout.um, GATTSerialProfile.Shape.oneCharacteristic,
            GATTSerialProfile.WriteKind.withoutResponse
        ),
        (.atorch, .oneCharacteristic, .withResponse), (.twoServices, .twoServices, .withResponse),
        (.dxBT24, .twoCharacteristics, .withoutResponse),
    ])
    func layout_isRecognised_withItsKindOfWrite(
        layout: SimulatedPeripheral.Layout, shape: GATTSerialProfile.Shape, kind: GATTSerialProfile.WriteKind
    ) throws {
        var pair = Pair(SimulatedPeripheral(layout))
        let profile = try pair.opened()
        #expect(profile.shape == shape)
        #expect(profile.writeKind == kind)
        #expect(pair.peripheral.isSubscribed)
        #expect(pair.machine.nextWake == nil)
    }

    /// `FFE2` is there both times; whether `FFE1` takes writes decides.
    @Test func secondDoor_isUsedOnlyWhereTheFirstTakesNoWrites() throws {
        var um = Pair(SimulatedPeripheral(.um))
        var tc66 = Pair(SimulatedPeripheral(.dxBT24))
        let first = try um.opened()
        #expect(first.isOneDoor)
        let second = try tc66.opened()
        #expect(!second.isOneDoor)
    }

    /// Some Atorch act on nothing that comes by the first.
    @Test(arguments: [
        (SimulatedPeripheral.Layout.um, true), (.atorch, false), (.dxBT24, false), (.twoServices, false),
    ])
    func secondDoor_isUsedWhenAskedFor(layout: SimulatedPeripheral.Layout, isThere: Bool) throws {
        var pair = Pair(SimulatedPeripheral(layout))
        var switched = [pair.machine.switchOutput()]
        _ = try pair.opened()
        var written: [[[UInt8]]] = []
        for byte in [0xF0, 0xF1] as [UInt8] {
            switched.append(pair.machine.switchOutput())
            pair.send([byte])
            written.append(pair.peripheral.takeWritten())
        }
        #expect(switched == [false, isThere, isThere])
        #expect(written == [isThere ? [] : [[0xF0]], [[0xF1]]])
    }

    @Test(arguments: [
        (GATTProperties.write, GATTSerialProfile.WriteKind.withResponse), (.writeWithoutResponse, .withoutResponse),
    ])
    func outputWithOneKindOfWrite_isWrittenThatWay(
        properties: GATTProperties, kind: GATTSerialProfile.WriteKind
    ) throws {
        for layout in [SimulatedPeripheral.Layout.um, .twoServices, .dxBT24, .atorch] {
            var pair = Pair(SimulatedPeripheral(layout, outputProperties: properties))
            #expect(pair.open()?.writeKind == kind, "\(layout)")
            pair.send([0xF0])
            #expect(pair.peripheral.takeWritten() == [[0xF0]], "\(layout)")
        }
    }

    /// HM-10 clones (BlueZ, src/shared/gatt-client.c, takes them as subscribed too).
    @Test(arguments: [SimulatedPeripheral.Layout.um, .twoServices, .dxBT24, .atorch])
    func inputWithoutAConfiguration_isTakenAsSubscribed(layout: SimulatedPeripheral.Layout) throws {
        var pair = Pair(SimulatedPeripheral(layout, hasSubscription: false))
        _ = try pair.opened()
        #expect(pair.failure == nil)
        #expect(!pair.peripheral.isSubscribed)
        #expect(pair.machine.nextWake == nil)
        #expect(pair.deliver(pair.peripheral.tell([1, 2, 3])) == [1, 2, 3])
        pair.send([0xF0])
        #expect(pair.peripheral.takeWritten() == [[0xF0]])
    }

    @Test func stranger_isRefused_withTheServicesItHas() throws {
        var pair = Pair(SimulatedPeripheral(.stranger))
        #expect(pair.open() == nil)
        let failure = try #require(pair.failure)
        #expect(failure == .noProfile(services: [BluetoothUUID(short: 0x1800), BluetoothUUID(short: 0x180D)]))
        #expect(failure.description.hasSuffix("its services are 1800, 180D"))
    }

    @Test func outputThatCannotBeWritten_isNoMeter() {
        for layout in [SimulatedPeripheral.Layout.twoServices, .dxBT24, .atorch] {
            var pair = Pair(SimulatedPeripheral(layout, outputProperties: [.read]))
            #expect(pair.open() == nil, "\(layout)")
            guard case .noProfile = pair.failure else {
                Issue.record("\(layout): \(String(describing: pair.failure))")
                continue
            }
        }
    }

    // MARK: Transcript

    /// An Atorch at 23 bytes, from the first packet to the first report.
    @Test func conversation_isThis() throws {
        let script: [(sent: String, received: [String])] = [
            ("020502", ["031700"]),
            ("100100ffff0028", ["1106 0100 0500 0018 0900 0c00 e0ff"]),
            ("100d00ffff0028", ["01100d000a"]),
            ("080a000c000328", ["0907 0a00 140b00e1ff"]),
            // The value is followed by one attribute, so nothing else can be a characteristic; it is asked all the same.
            ("080c000c000328", ["01080c000a"]),
            ("040c000c00", ["05010c000229"]),
            ("120c000100", ["13", "1b0b00ff55"]),
            ("520b00aabb", []),
        ]
        var machine = GATTSerialMachine()
        machine.linkUp(at: .origin)
        var events: [GATTSerialMachine.OnReceived] = []
        #expect(machine.send([0xAA, 0xBB]) == .queued)
        for line in script {
            let packet = machine.nextPDU(at: .origin)
            #expect(packet.map { Hex.encode($0) } == line.sent)
            #expect(machine.nextPDU(at: .origin) == nil)
            for answer in line.received {
                let packet = try #require(Hex.decode(answer))
                let event = machine.received(packet)
                if event != .none { events.append(event) }
            }
        }
        #expect(events.count == 2)
        guard case .opened(let profile, mtu: 23) = events.first else {
            Issue.record("not opened: \(events)")
            return
        }
        #expect(profile.output == 0x0B)
        #expect(events.last == .deliver([0xFF, 0x55]))
    }

    // MARK: Bytes

    @Test(arguments: [(Int?.none, 23, 7), (23, 23, 7), (24, 24, 7), (100, 100, 2), (517, 517, 1), (9999, 517, 1)])
    func block_arrivesWhole_atEachMTU(theirs: Int?, mtu: Int, packets: Int) throws {
        var pair = Pair(SimulatedPeripheral(.um, ownMTU: theirs))
        _ = try pair.opened()
        #expect(pair.machine.mtu == mtu)
        let block = [UInt8](0..<130)
        let told = pair.peripheral.tell(block)
        #expect(told.count == packets)
        #expect(pair.deliver(told) == block)
    }

    @Test(arguments: [[1], [20], [1, 19, 3, 20, 7]])
    func block_arrivesWhole_inAnyPieces(pieces: [Int]) throws {
        var pair = Pair(SimulatedPeripheral(.um))
        _ = try pair.opened()
        let block = [UInt8](0..<130)
        let told = pair.peripheral.tell(block, pieces: pieces)
        #expect(pair.deliver(told) == block)
    }

    @Test func longMessage_isSplit_andTwoMessagesShareNoPacket() throws {
        for layout in [SimulatedPeripheral.Layout.um, .twoServices] {
            var pair = Pair(SimulatedPeripheral(layout))
            _ = try pair.opened()
            pair.send([UInt8](0..<45))
            pair.send([0xF0])
            pair.send([])
            #expect(
                pair.peripheral.takeWritten() == [
                    [UInt8](0..<20), [UInt8](20..<40), [UInt8](40..<45), [0xF0],
                ], "\(layout)")
        }
    }

    @Test func writesWithResponse_goOneAtATime_inOrder() throws {
        var pair = Pair(SimulatedPeripheral(.twoServices))
        _ = try pair.opened()
        for byte in UInt8(1)...3 { #expect(pair.machine.send([byte]) == .queued) }
        let first = try pair.nextPacket()
        #expect(first.last == 1)
        #expect(pair.machine.nextPDU(at: .origin) == nil)
        // A value that comes meanwhile does not count as the answer.
        _ = pair.deliver(pair.peripheral.tell([9]))
        #expect(pair.machine.nextPDU(at: .origin) == nil)
        _ = pair.machine.received([0x13])
        #expect(pair.machine.nextPDU(at: .origin)?.last == 2)
        _ = pair.machine.received([0x13])
        #expect(pair.machine.nextPDU(at: .origin)?.last == 3)
    }

    @Test func refusedWrite_isRepeatedTheOtherWay_whereBothAreAllowed() throws {
        var pair = Pair(SimulatedPeripheral(.twoServices))
        _ = try pair.opened()
        #expect(pair.machine.send([1]) == .queued)
        #expect(pair.machine.send([2]) == .queued)
        #expect(pair.machine.nextPDU(at: .origin)?.first == 0x12)

        let refused = pair.machine.received(ATTPDU.errorResponse(to: 0x12, handle: 1, error: .writeNotPermitted).bytes)

        #expect(refused == .none)
        let repeated = try pair.nextPacket()
        #expect(repeated.first == 0x52)
        #expect(repeated.last == 1)
        #expect(pair.machine.nextPDU(at: .origin)?.last == 2)
    }

    @Test func refusedWrite_endsTheLink_whereThereIsNoOtherWay() throws {
        var pair = Pair(SimulatedPeripheral(.twoServices, outputProperties: .write))
        _ = try pair.opened()
        #expect(pair.machine.send([1]) == .queued)
        _ = pair.machine.nextPDU(at: .origin)
        let refused = pair.machine.received(ATTPDU.errorResponse(to: 0x12, handle: 1, error: .writeNotPermitted).bytes)
        #expect(refused == .failed(.operation(.sending, .refused(.writeNotPermitted))))
        #expect(pair.machine.nextPDU(at: .origin) == nil)
    }

    @Test func tooMuchToSend_endsTheLink() {
        var machine = GATTSerialMachine()
        machine.linkUp(at: .origin)
        for _ in 0..<64 { #expect(machine.send([UInt8](repeating: 0, count: 1024)) == .queued) }
        #expect(machine.send([1]) == .failed(.tooMuchToSend(limit: 65_536)))
        #expect(machine.nextPDU(at: .origin) == nil)
    }

    @Test func valuesBeforeTheLinkIsOpen_orOfOthers_areCountedAndDropped() throws {
        var pair = Pair(SimulatedPeripheral(.um))
        pair.machine.linkUp(at: .origin)
        let value = ATTPDU.notification(ATTHandleValue(handle: 11, value: [1])).bytes
        #expect(pair.machine.received(value) == .none)
        _ = try pair.opened()
        #expect(pair.machine.received(ATTPDU.notification(ATTHandleValue(handle: 99, value: [1])).bytes) == .none)
        #expect(pair.machine.strayValues == 2)
        // An empty value of the right one is nothing either.
        #expect(pair.machine.received(ATTPDU.notification(ATTHandleValue(handle: 11, value: [])).bytes) == .none)
    }

    // MARK: Time

    @Test func silentMeter_fails_atEachStep() throws {
        for answered in 0..<7 {
            var pair = Pair(SimulatedPeripheral(.atorch))
            pair.open(answers: answered)
            #expect(pair.profile == nil)
            let wake = try #require(pair.machine.nextWake)
            #expect(wake == .seconds(30))
            guard case .failed(let failure) = pair.machine.woke(at: wake) else {
                Issue.record("went on after \(answered) answers")
                continue
            }
            #expect(failure.description.contains("30 s"))
            #expect(pair.machine.nextWake == nil)
            #expect(pair.machine.received([0x13]) == .none)
        }
    }

    @Test func slowMeter_fails_thoughEachAnswerIsInTime() {
        var pair = Pair(SimulatedPeripheral(.um))
        pair.machine.linkUp(at: .origin)
        var now = MonotonicTime.origin
        var failure: GATTSerialFailure?
        while failure == nil, pair.profile == nil {
            let packet = pair.machine.nextPDU(at: now)
            now = now + .seconds(8)
            if case .failed(let reason) = pair.machine.woke(at: now) { failure = reason }
            for answer in pair.peripheral.receive(packet ?? []) { pair.take(answer) }
        }
        #expect(failure == .tooSlow(.findingCharacteristics, limit: .seconds(30)))
    }

    /// An answer has its time, and so has the set-up as a whole.
    @Test(arguments: [(20, 20), (100, 40)])
    func wake_isWhenTheFirstTimeEnds_whileTheLinkIsSetUp(limit: Int, wake: Int) {
        var machine = GATTSerialMachine(setUpLimit: .seconds(limit))
        machine.linkUp(at: .origin)
        let packet = machine.nextPDU(at: .seconds(10))
        #expect(packet != nil)
        #expect(machine.nextWake == .seconds(wake))
    }

    @Test func unansweredWrite_endsTheLink() throws {
        var pair = Pair(SimulatedPeripheral(.twoServices))
        _ = try pair.opened()
        #expect(pair.machine.send([1]) == .queued)
        _ = pair.machine.nextPDU(at: .seconds(100))
        #expect(pair.machine.nextWake == .seconds(130))
        #expect(pair.machine.woke(at: .seconds(130)) == .failed(.operation(.sending, .timedOut)))
    }

    /// A link that comes up twice begins once, and one that failed begins no more.
    @Test func link_comesUpOnce() throws {
        var pair = Pair(SimulatedPeripheral(.um))
        _ = try pair.opened()
        pair.machine.linkUp(at: .seconds(100))
        #expect(pair.machine.nextPDU(at: .seconds(100)) == nil)
        #expect(pair.machine.nextWake == nil)
        var machine = GATTSerialMachine()
        #expect(machine.nextWake == nil)
        #expect(machine.woke(at: .seconds(1000)) == .none)
        machine.linkUp(at: .seconds(7))
        #expect(machine.nextWake == .seconds(37))
        #expect(machine.woke(at: Duration.milliseconds(36_999).moment) == .none)
        #expect(machine.woke(at: .seconds(37)) == .failed(.tooSlow(.agreeingOnMTU, limit: .seconds(30))))
        machine.linkUp(at: .seconds(40))
        #expect(machine.nextPDU(at: .seconds(40)) == nil)
        #expect(machine.send([1]) == .queued)
        #expect(machine.nextWake == nil)
    }

    /// Each write has its own time, and each write that is refused its own remedy: after the first switch there is none left.
    @Test(arguments: [ATTErrorCode.writeNotPermitted, .requestNotSupported, .invalidHandle])
    func writes_areSwitchedOnce_andOnlyWhereTheKindIsRefused(error: ATTErrorCode) throws {
        var pair = Pair(SimulatedPeripheral(.twoServices))
        _ = try pair.opened()
        for time in [10, 50] {
            #expect(pair.machine.send([1]) == .queued)
            _ = pair.machine.nextPDU(at: .seconds(time))
            #expect(pair.machine.nextWake == .seconds(time + 30))
            #expect(pair.machine.received([0x13]) == .none)
            #expect(pair.machine.nextWake == nil)
        }
        #expect(pair.machine.send([1]) == .queued)
        _ = pair.machine.nextPDU(at: .origin)
        let refused = pair.machine.received(ATTPDU.errorResponse(to: 0x12, handle: 1, error: error).bytes)
        guard error != .invalidHandle else {
            #expect(refused == .failed(.operation(.sending, .refused(error))))
            return
        }
        #expect(refused == .none)
        #expect(pair.machine.nextPDU(at: .origin)?.first == 0x52)
        // From now on none waits for an answer.
        for _ in 0..<3 {
            #expect(pair.machine.send([2]) == .queued)
            #expect(pair.machine.nextPDU(at: .origin)?.first == 0x52)
            #expect(pair.machine.nextWake == nil)
        }
    }

    @Test func severalValuesInOnePacket_areOneDelivery() throws {
        var pair = Pair(SimulatedPeripheral(.um))
        let input = try pair.opened().input.value
        let values = [[1, 2], [3], [], [4, 5]].map { ATTHandleValue(handle: input, value: $0) }
        let stray = ATTHandleValue(handle: input + 9, value: [9])
        let packet = ATTPDU.multipleNotification([values[0], stray] + values[1...]).bytes
        #expect(pair.machine.received(packet) == .deliver([1, 2, 3, 4, 5]))
        #expect(pair.machine.strayValues == 1)
    }

    // MARK: Hostile peripherals

    /// Any packets at any moment: no trap, a bounded number of requests until it is open or failed, bytes only from an
    /// open link.
    @Test(arguments: 0..<UInt64(400))
    func anyPackets_endInAnOpenLinkOrAFailure(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let layouts = SimulatedPeripheral.Layout.allCases
        var pair = Pair(SimulatedPeripheral(layouts[rng.below(layouts.count)], ownMTU: 20 + rng.below(600)))
        pair.machine.linkUp(at: .origin)
        var now = MonotonicTime.origin
        var packets = 0
        for _ in 0..<300 {
            while let packet = pair.machine.nextPDU(at: now) {
                packets += 1
                #expect(packet.count <= max(23, pair.machine.mtu), "seed \(seed): a packet of \(packet.count)")
                for answer in pair.peripheral.receive(packet) { pair.take(spoilt(answer, &rng)) }
            }
            switch rng.below(5) {
            case 0: now = now + .seconds(rng.below(4))
            case 1:
                let length = rng.below(40)
                pair.take(rng.bytes(length))
            case 2:
                let length = rng.below(50)
                if case .failed(let failure) = pair.machine.send(rng.bytes(length)) { pair.failure = failure }
            default: for packet in pair.peripheral.tell([1, 2, 3]) { pair.take(spoilt(packet, &rng)) }
            }
            if case .failed(let failure) = pair.machine.woke(at: now) { pair.failure = failure }
            #expect(pair.profile != nil || pair.deliveries == 0, "seed \(seed): bytes before the link was open")
        }
        #expect(packets < 3000, "seed \(seed)")
        #expect(pair.failures <= 1, "seed \(seed): failed twice")
        if pair.failure != nil { #expect(pair.machine.nextPDU(at: now) == nil && pair.machine.nextWake == nil) }
    }

    /// One packet in ten is cut, lengthened, changed or doubled.
    private func spoilt(_ packet: [UInt8], _ rng: inout SeededRNG) -> [UInt8] {
        var packet = packet
        switch rng.below(40) {
        case 0: packet.removeLast(min(packet.count, 1 + rng.below(4)))
        case 1: packet += rng.bytes(1 + rng.below(600))
        case 2, 3: packet[rng.below(packet.count)] = UInt8(truncatingIfNeeded: rng.next())
        default: break
        }
        return packet
    }
}

/// A machine and a peripheral with nothing but a wire between them.
private struct Pair {
    var machine = GATTSerialMachine()
    var peripheral: SimulatedPeripheral
    private(set) var profile: GATTSerialProfile?
    private(set) var delivered: [UInt8] = []
    private(set) var deliveries = 0
    private(set) var failures = 0
    var failure: GATTSerialFailure? {
        didSet { failures += 1 }
    }

    init(_ peripheral: SimulatedPeripheral) { self.peripheral = peripheral }

    mutating func take(_ packet: [UInt8]) {
        switch machine.received(packet) {
        case .opened(let profile, _): self.profile = profile
        case .deliver(let bytes):
            delivered += bytes
            deliveries += 1
        case .failed(let reason): failure = reason
        case .none: break
        }
    }

    /// Opens the link, with at most so many of the peripheral's answers.
    @discardableResult
    mutating func open(answers: Int = .max) -> GATTSerialProfile? {
        machine.linkUp(at: .origin)
        exchange(answers: answers)
        return profile
    }

    mutating func opened() throws -> GATTSerialProfile {
        open()
        return try #require(profile)
    }

    mutating func nextPacket() throws -> [UInt8] {
        let packet = machine.nextPDU(at: .origin)
        return try #require(packet)
    }

    mutating func send(_ bytes: [UInt8]) {
        #expect(machine.send(bytes) == .queued)
        exchange(answers: .max)
    }

    mutating func deliver(_ packets: [[UInt8]]) -> [UInt8] {
        delivered = []
        for packet in packets { take(packet) }
        return delivered
    }

    private mutating func exchange(answers: Int) {
        var left = answers
        while let packet = machine.nextPDU(at: .origin) {
            for answer in peripheral.receive(packet) where left > 0 {
                left -= 1
                take(answer)
            }
        }
    }
}

extension GATTSerialProfile {
    /// It is written where it is read.
    fileprivate var isOneDoor: Bool { output == input.value }
}
