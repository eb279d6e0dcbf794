import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedFNIRSITests {
    @Test func stream_is25PacketsASecond_andEndsWithItsLease() {
        var meter = SimulatedFNIRSIUSB()
        #expect(meter.nextDue == nil)
        #expect(meter.receive(FNIRSIUSBCommand.start.bytes, at: .seconds(1)).isEmpty)

        #expect(meter.nextDue == .milliseconds(1040))
        #expect(meter.due(at: .milliseconds(1039)).isEmpty)
        #expect(meter.due(at: .milliseconds(1040)).count == 1)
        #expect(meter.due(at: .seconds(10)).count == 24)
        #expect(meter.nextDue == nil)
    }

    @Test func keepOn_isHeardWhileStreaming_andNotAfterwards() {
        var meter = SimulatedFNIRSIUSB()
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        _ = meter.due(at: .milliseconds(900))
        _ = meter.receive(FNIRSIUSBCommand.keepOn.bytes, at: .milliseconds(900))
        #expect(meter.due(at: .milliseconds(1900)).count == 25)

        _ = meter.receive(FNIRSIUSBCommand.keepOn.bytes, at: .milliseconds(2000))
        #expect(meter.nextDue == nil)
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .milliseconds(2100))
        #expect(meter.nextDue == .milliseconds(2140))
    }

    @Test func commandsCloserThan25Milliseconds_hangIt_untilThePowerGoes() {
        var meter = SimulatedFNIRSIUSB()
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .milliseconds(24))
        #expect(meter.isHung)
        #expect(meter.due(at: .seconds(1)).isEmpty)
        #expect(meter.receive(FNIRSIUSBCommand.hello.bytes, at: .seconds(5)).isEmpty)

        meter.powerCycle()
        #expect(meter.bootCount == 2)
        #expect(meter.receive(FNIRSIUSBCommand.hello.bytes, at: .zero).count == 1)
    }

    /// Where what carries the commands delivers some upon each other, the meters that mind neither hang nor lose one.
    @Test func bunchedCommands_areTakenAsTheyCome() throws {
        func meter(_ model: ModelName, _ transport: LinkAddress.Transport, isBunched: Bool) throws -> any SimulatedMeter
        {
            try #require(SimulatorCatalogue.standard.meter(model, over: transport, isBunched: isBunched))
        }
        for isBunched in [false, true] {
            var fnirsi = try meter(.fnb58, .hid, isBunched: isBunched)
            let answers = (0..<3).map { _ in fnirsi.receive(FNIRSIUSBCommand.hello.bytes, at: .zero).count }
            #expect(answers == (isBunched ? [1, 1, 1] : [1, 0, 0]))
            var um = try meter(.um25c, .spp, isBunched: isBunched)
            // Brightness 1, then 2 (Docs/Protocols/UM.md); the block has it in octets 120 and 121.
            for command: UInt8 in [0xD1, 0xD2] { _ = um.receive([command], at: .zero) }
            let block = try #require(um.receive([0xF0], at: .zero).first)
            #expect(block[121] == (isBunched ? 2 : 1))
        }
    }

    /// Runs a driver against the meter as a session would, in steps of one millisecond.
    private func converse(
        _ driver: inout FNIRSIUSBDriver, _ meter: inout SimulatedFNIRSIUSB, milliseconds: Int, keepAlive: Bool = true
    ) -> (readings: Int, refused: Int, firstSkip: CodecError?) {
        var outgoing = driver.opening()[...]
        var nextOutgoing = 0
        var nextPoll = Int.max
        var readings = 0
        var refused = 0
        var firstSkip: CodecError?
        for now in 0..<milliseconds {
            var written = meter.due(at: .milliseconds(now))
            if now >= nextOutgoing, let sent = outgoing.popFirst() {
                written += meter.receive(sent.bytes, at: .milliseconds(now))
                nextOutgoing = now + Int(sent.pause.milliseconds)
                nextPoll = now + Int(driver.quirks.keepAlivePeriod.milliseconds)
            } else if keepAlive, outgoing.isEmpty, now >= nextPoll {
                written += meter.receive(driver.poll(), at: .milliseconds(now))
                nextPoll = now + Int(driver.quirks.keepAlivePeriod.milliseconds)
            }
            for bytes in written {
                driver.receive(bytes) { event in
                    switch event {
                    case .frame(let frame): frame.content.forEachReading { _ in readings += 1 }
                    case .skipped(let count, let error):
                        refused += count
                        firstSkip = firstSkip ?? error
                    case .confirmed, .held, .acknowledged, .rejected, .readBack, .identified, .filtered: break
                    }
                }
            }
        }
        return (readings, refused, firstSkip)
    }

    @Test(arguments: [ModelName.fnb58, .fnb48])
    func driver_keeps100SamplesASecondComing(model: ModelName) {
        var meter = SimulatedFNIRSIUSB()
        var driver = FNIRSIUSBDriver(model: model)
        let heard = converse(&driver, &meter, milliseconds: 10_000)
        #expect(!meter.isHung)
        // The stream starts after 50 ms.
        #expect(heard.readings == 4 * 248)
        #expect(heard.refused == 0)
    }

    /// Both that may have the ids 0483:003B, and both are kept streaming without commands that come too close.
    @Test(arguments: [false, true])
    func driverOfTwoModels_keepsEitherStreaming(wantsKeepOn: Bool) {
        var meter = SimulatedFNIRSIUSB(model: wantsKeepOn ? .c1 : .fnac28, wantsKeepOn: wantsKeepOn)
        var driver = FNIRSIUSBDriver(model: .c1)
        let heard = converse(&driver, &meter, milliseconds: 10_000)
        #expect(!meter.isHung)
        #expect(heard.readings > (wantsKeepOn ? 4 * 230 : 4 * 245))
        #expect(heard.refused == 0)
        // After it was unplugged, and plugged in again.
        meter.powerCycle()
        #expect(converse(&driver, &meter, milliseconds: 5000).readings > (wantsKeepOn ? 4 * 105 : 4 * 120))
    }

    @Test func meterThatWantsKeepOn_isSilentWithoutIt() {
        var meter = SimulatedFNIRSIUSB(model: .c1, wantsKeepOn: true)
        _ = meter.receive(FNIRSIUSBCommand.keepOn.bytes, at: .zero)
        #expect(meter.nextDue == nil)
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .milliseconds(50))
        #expect(meter.nextDue == nil)
        _ = meter.receive(FNIRSIUSBCommand.keepOn.bytes, at: .milliseconds(100))
        #expect(meter.nextDue == .milliseconds(140))
        meter.powerCycle()
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        meter.powerCycle()
        _ = meter.receive(FNIRSIUSBCommand.keepOn.bytes, at: .milliseconds(50))
        #expect(meter.nextDue == nil)
    }

    /// An FNAC-28 has new values less often than samples.
    @Test func fnac28_repeatsValues() {
        func currents(_ model: ModelName) -> Int {
            var meter = SimulatedFNIRSIUSB(model: model)
            var driver = FNIRSIUSBDriver(model: .fnac28)
            _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
            var found: Set<Double> = []
            for packet in meter.due(at: .seconds(1)) {
                driver.receive(packet) { event in
                    guard case .frame(let frame) = event else { return }
                    frame.forEachReading { found.insert($0[.current] ?? 0) }
                }
            }
            return found.count
        }
        #expect(currents(.fnac28) <= 25)
        #expect(currents(.fnb58) > 90)
    }

    @Test func withoutKeepAlive_theStreamEnds() {
        var meter = SimulatedFNIRSIUSB()
        var driver = FNIRSIUSBDriver(model: .fnb58)
        let heard = converse(&driver, &meter, milliseconds: 10_000, keepAlive: false)
        // Started at 50 and again at 100 ms: packets from 90 to 1090 ms.
        #expect(heard.readings == 4 * 26)
    }

    @Test func garbageAfterAnUncleanStop_costsOnePacket() {
        var meter = SimulatedFNIRSIUSB(startsWithGarbage: true)
        var driver = FNIRSIUSBDriver(model: .fnb58)
        let heard = converse(&driver, &meter, milliseconds: 2000)
        #expect(heard.refused == 64)
        #expect(heard.firstSkip == .implausibleField(offset: 2))
        #expect(heard.readings == 4 * 47)
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_spoilsItsPacket_andNoOther(kind: SimulatorFaults.Kind) {
        var meter = SimulatedFNIRSIUSB()
        meter.faults = SimulatorFaults(kind, every: 5)
        _ = meter.receive(FNIRSIUSBCommand.start.bytes, at: .zero)
        var driver = FNIRSIUSBDriver(model: .fnb58)
        var frames = 0
        for packet in meter.due(at: .seconds(1)) {
            driver.receive(packet) { if case .frame = $0 { frames += 1 } }
        }
        // A truncated packet costs only itself, since the next AA is found; a shifted one is good after its stray
        // bytes.
        #expect(frames == (kind == .shifted ? 25 : 20))
    }

    @Test func overBluetooth_nothingComesBeforeTheStart_andNothingAfterTheStop() {
        var meter = SimulatedFNIRSIBLE()
        #expect(meter.due(at: .seconds(5)).isEmpty)
        #expect(meter.nextDue == nil)
        _ = meter.receive(FNIRSIBLECommand.start.bytes, at: .seconds(5))
        #expect(meter.nextDue == .milliseconds(5100))
        #expect(!meter.due(at: .seconds(6)).isEmpty)
        _ = meter.receive(FNIRSIBLECommand.stop.bytes, at: .seconds(6))
        #expect(meter.due(at: .seconds(9)).isEmpty)
    }

    /// The frames that a driver decodes from a second of streaming, including the opening.
    private func bluetoothFrames(_ meter: inout SimulatedFNIRSIBLE, from start: Duration = .zero) -> [FNIRSIBLEFrame] {
        var driver = FNIRSIBLEDriver(model: .fnb58)
        var frames: [FNIRSIBLEFrame] = []
        var written = driver.opening().flatMap { meter.receive($0.bytes, at: start) }
        written += meter.due(at: start + .seconds(1))
        for notification in written {
            driver.receive(notification) { event in
                if case .frame(.fnirsiBLE(let frame)) = event { frames.append(frame) }
            }
        }
        return frames
    }

    @Test func overBluetooth_quickFramesComeTenTimesASecond_theOthersTwice() {
        var meter = SimulatedFNIRSIBLE()
        let frames = bluetoothFrames(&meter)
        #expect(frames.count { $0.kind == .quick } == 10)
        for kind in [FNIRSIBLEFrame.Kind.measurement, .load, .dataLines, .totals] {
            #expect(frames.count { $0.kind == kind } == 2, "\(kind)")
        }
        #expect(frames.first?.device?.serial == "51772")
    }

    @Test(arguments: [(ModelName.fnb58, 58, 5), (.fnb48s, 48, 0x0B01)])
    func overBluetooth_theInfoTellsTheModel(model: ModelName, number: Int, code: Int) {
        var meter = SimulatedFNIRSIBLE(model: model)
        let details = bluetoothFrames(&meter).flatMap(\.details)
        #expect(details.contains(FrameDetail("model_code", .integer(number))))
        #expect(details.contains(FrameDetail("protocol_code", .integer(code))))
    }

    @Test func overBluetooth_notificationsAreNoLongerThanTheLinkTakes() {
        var meter = SimulatedFNIRSIBLE(notificationMax: 20)
        _ = meter.receive(FNIRSIBLECommand.start.bytes, at: .zero)
        #expect(meter.due(at: .seconds(1)).allSatisfy { (1...20).contains($0.count) })
    }

    @Test func overBluetooth_powerCycleCountsABoot_andKeepsTheTotals() throws {
        var meter = SimulatedFNIRSIBLE()
        let before = bluetoothFrames(&meter)
        meter.powerCycle()
        let after = bluetoothFrames(&meter)

        #expect(before.first?.device?.powerOnCount == 1)
        #expect(after.first?.device?.powerOnCount == 2)
        let counted = try #require(before.last { $0.kind == .totals }?.reading?[.charge])
        let kept = try #require(after.first { $0.kind == .totals }?.reading?[.charge])
        #expect(counted > 0.3)
        #expect(kept > counted)
    }
}
