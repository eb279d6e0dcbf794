import Domain
import MeterCodec
import MeterSimulator
import Testing

struct IdentifyingDriverTests {
    /// What a driver sent and found out when polled once a second.
    private struct Talk {
        var identified: [ModelName] = []
        /// When the first was identified, in seconds.
        var second: Int?
        var sent: [[UInt8]] = []
        var otherEvents = 0
    }

    private func talk(
        _ driver: inout IdentifyingDriver, with meter: inout (any SimulatedMeter)?, seconds: Int = 15
    ) -> Talk {
        var talk = Talk(sent: driver.opening().map(\.bytes))
        for tick in 0..<(seconds * 20) {
            let now = Duration.milliseconds(50 * tick)
            var written = meter?.due(at: now) ?? []
            if tick % 20 == 0 {
                let bytes = driver.poll()
                talk.sent.append(bytes)
                if !bytes.isEmpty { written += meter?.receive(bytes, at: now) ?? [] }
            }
            for bytes in written {
                driver.receive(bytes) { event in
                    guard case .identified(let model) = event else { return talk.otherEvents += 1 }
                    talk.identified.append(model)
                    talk.second = talk.second ?? tick / 20
                }
            }
        }
        return talk
    }

    @Test(arguments: [
        (LinkAddress.Transport.ble, ModelName?.none, ModelName.um24c, 2), (.ble, nil, .um25c, 2),
        (.ble, nil, .um34c, 2),
        (.ble, nil, .tc66c, 3), (.ble, nil, .atorchUSB, 1), (.ble, nil, .atorchDC, 1), (.ble, nil, .atorchAC, 1),
        (.ble, .tc66c, .um25c, 2), (.ble, .um25c, .tc66c, 3), (.ble, .atorchUSB, .um34c, 2),
        (.ble, .fnb58, .fnb58, 4), (.ble, .fnb58, .tc66c, 2), (.ble, .fnb48s, .fnb48s, 4),
        (.spp, nil, .um25c, 2), (.spp, nil, .atorchDC, 1),
    ])
    func meter_isFound_byItsFirstAnswer(
        _ transport: LinkAddress.Transport, _ suspected: ModelName?, _ model: ModelName, _ second: Int
    ) throws {
        var driver = try #require(IdentifyingDriver(over: transport, suspecting: suspected))
        var meter = SimulatorCatalogue.standard.meter(model, over: transport)

        let talk = talk(&driver, with: &meter)

        #expect(talk.identified == [model])
        #expect(talk.second == second)
        #expect(talk.otherEvents == 0)
        #expect(talk.sent.suffix(3).joined().isEmpty)
    }

    /// The slower radio of a TC66C takes 0.8 s, and answers get lost.
    @Test func meter_isFound_whoseFirstAnswersAreLost() throws {
        for kind in SimulatorFaults.Kind.allCases {
            var driver = try #require(IdentifyingDriver(over: .ble))
            var meter = SimulatorCatalogue.standard.meter(.tc66c, over: .ble)
            meter?.faults = SimulatorFaults(kind, every: 1)
            #expect(talk(&driver, with: &meter, seconds: 7).identified == (kind == .shifted ? [.tc66c] : []), "\(kind)")

            meter?.faults = .none
            #expect(talk(&driver, with: &meter).identified == [.tc66c], "\(kind)")
        }
    }

    @Test func nobody_isAskedBeforeTwoSecondsOfListening_thenEachInTurn() throws {
        var driver = try #require(IdentifyingDriver(over: .ble))
        var nobody: (any SimulatedMeter)?
        let sent = talk(&driver, with: &nobody, seconds: 8).sent
        let ask = [[0xF0], Array("bgetva\r\n".utf8), []]
        #expect(sent == [[], []] + ask + ask)
    }

    @Test func newLink_beginsAnew() throws {
        var driver = try #require(IdentifyingDriver(over: .spp))
        var first = SimulatorCatalogue.standard.meter(.um25c, over: .spp)
        var second = SimulatorCatalogue.standard.meter(.um34c, over: .spp)
        #expect(talk(&driver, with: &first).identified == [.um25c])
        #expect(talk(&driver, with: &second).identified == [.um34c])
    }

    /// Whatever may be there, nothing that is sent is an order to it: AA 81 00 F4 would clear a UM meter's group, and
    /// AA 82 00 A7 would choose another.
    @Test func questions_areNobodysOrders() {
        let families = MeterCatalogue.standard.families.map(\.family)
        for mask in 1..<(1 << families.count) {
            let among = Set(families.indices.filter { mask & 1 << $0 != 0 }.map { families[$0] })
            var driver = IdentifyingDriver(among: among, guess: .um25c)
            var nobody: (any SimulatedMeter)?
            let sent = talk(&driver, with: &nobody, seconds: 30).sent
            if among.contains(.um) {
                let orders = sent.joined().filter { (0xF1...0xF4).contains($0) || (0xA0...0xEF).contains($0) }
                #expect(orders.isEmpty, "\(among)")
            }
            #expect(!sent.joined().contains(0xB1), "an order to an Atorch load, \(among)")
            let orders = [[0xFF, 0x55], FNIRSIBLECommand.start.bytes]
            #expect(!sent.contains { bytes in orders.contains { bytes.starts(with: $0) } }, "\(among)")
        }
    }

    @Test func atorchWithoutTheKnownCheck_needsASecondReport() throws {
        var quirks = SimulatedAtorch.Quirks()
        quirks.check = .arbitrary
        var driver = try #require(IdentifyingDriver(over: .ble))
        var meter: (any SimulatedMeter)? = SimulatedAtorch(model: .atorchUSB, quirks: quirks)
        let talk = talk(&driver, with: &meter)
        #expect(talk.identified == [.atorchUSB])
        #expect(talk.second == 2)
    }

    @Test func rubbish_identifiesNobody() throws {
        var noise = SplitMix64(seed: 20)
        var driver = try #require(IdentifyingDriver(over: .ble))
        var events = 0
        for _ in 0..<2000 { driver.receive(noise.bytes(20)) { _ in events += 1 } }
        #expect(events == 0)
    }

    @Test func cable_needsNone() {
        #expect(IdentifyingDriver(over: .serial) == nil)
        #expect(IdentifyingDriver(over: .hid, suspecting: .fnb58) == nil)
    }

    @Test func commands_areRefused() throws {
        let driver = try #require(IdentifyingDriver(over: .ble))
        #expect(throws: CodecError.unsupportedCommand(.rotate, model: .um25c)) {
            try driver.encode(MeterCommand(.rotate))
        }
    }
}
