import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedUMTests {
    private func block(_ meter: inout SimulatedUM, at time: Duration) throws -> UMBlock {
        var decoder = UMDecoder()
        for answer in meter.receive([0xF0], at: time) { decoder.append(answer) }
        guard case .frame(.um(let block)) = decoder.next() else {
            throw CodecError.truncated(have: decoder.pendingCount)
        }
        return block
    }

    @Test func values_renewTwiceASecond_notFaster() {
        var meter = SimulatedUM(model: .um25c)
        let first = meter.receive([0xF0], at: .milliseconds(1000))
        let soon = meter.receive([0xF0], at: .milliseconds(1400))
        let later = meter.receive([0xF0], at: .milliseconds(1500))
        #expect(first == soon)
        #expect(first != later)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func refreshOfNothing_isAMillisecond(refresh: Duration) throws {
        var meter = SimulatedUM(model: .um25c, refresh: refresh)
        let first = meter.receive([0xF0], at: .milliseconds(1))
        let second = meter.receive([0xF0], at: .milliseconds(2))
        #expect(first.count == 1)
        #expect(first != second)
    }

    /// Each update happens at its own moment: in floating point some of them came a request late.
    @Test func everyStep_isANewOne_alsoWhereTheLengthIsNoBinaryNumber() {
        var meter = SimulatedUM(model: .um25c, load: ElectricalLoad(supply: 20), refresh: .milliseconds(100))
        var last = meter.receive([0xF0], at: .zero)
        for step in 1...200 {
            let answer = meter.receive([0xF0], at: .milliseconds(100 * step))
            #expect(answer != last, "step \(step)")
            last = answer
        }
    }

    @Test func command_isObeyed_unlessTooSoonAfterAnother() throws {
        var meter = SimulatedUM(model: .um25c)
        _ = meter.receive([0xD2], at: .seconds(1))
        _ = meter.receive([0xE9], at: .milliseconds(1300))
        var shown = try block(&meter, at: .seconds(2))
        #expect(shown.brightness == 2)
        #expect(shown.screenTimeout == 2)
        _ = meter.receive([0xE9], at: .seconds(3))
        shown = try block(&meter, at: .seconds(4))
        #expect(shown.screenTimeout == 9)
    }

    @Test func group_countsCharge_andClears() throws {
        var meter = SimulatedUM(model: .um34c)
        _ = meter.receive([0xA3], at: .zero)
        let counted = try block(&meter, at: .seconds(60))
        #expect(try #require(counted.groupTotals(3)).charge_mAh > 20)
        _ = meter.receive([0xF4], at: .seconds(60))
        let cleared = try block(&meter, at: .seconds(60))
        #expect(cleared.groupTotals(3)?.charge_mAh == 0)
    }

    @Test func powerCycle_forgetsGroup0_andKeepsTheOthers() throws {
        var meter = SimulatedUM(model: .um25c)
        _ = try block(&meter, at: .seconds(60))
        _ = meter.receive([0xA1], at: .seconds(60))
        let before = try block(&meter, at: .seconds(120))
        meter.powerCycle()
        let after = try block(&meter, at: .zero)
        #expect(try #require(before.groupTotals(0)).charge_mAh > 0)
        #expect(after.groupTotals(0)?.charge_mAh == 0)
        #expect(after.groupTotals(1) == before.groupTotals(1))
    }

    @Test(arguments: SimulatorFaults.Kind.allCases)
    func fault_givesNoReading_andTheNextAnswerDoes(kind: SimulatorFaults.Kind) {
        var meter = SimulatedUM(model: .um25c)
        meter.faults = SimulatorFaults(kind, every: 2)
        var decoder = UMDecoder()
        var frames = 0
        for second in 1...6 {
            _ = decoder.reset()
            for answer in meter.receive([0xF0], at: .seconds(second)) { decoder.append(answer) }
            while let step = decoder.next() {
                if case .frame = step { frames += 1 }
            }
        }
        // A shifted block is still a good one after its stray bytes.
        #expect(frames == (kind == .shifted ? 6 : 3))
    }

    /// On the unedited blocks that are public: 5.01 V and 0.142 A are 0.711 W and 35.2 Ω on a UM34C, 5.02 V and 0.050 A are
    /// 0.251 W and 100.4 Ω on an A3-B.
    @Test(arguments: [ModelName.um24c, .um25c, .um34c, .a3b])
    func powerAndResistance_areOfTheShownValues_cutOff(model: ModelName) throws {
        for seed in 0..<200 as Range<UInt64> {
            var meter = SimulatedUM(
                model: model, over: .ble,
                load: ElectricalLoad(supply: 5.02, startCurrent: 0.05 + Double(seed) / 1000, seed: seed))
            let request = model == .a3b ? UMWrapping.frame(around: 0xF0) : [0xF0]
            let bytes = try #require(meter.receive(request, at: .zero).first)
            let (steps, parts) = model == .um25c ? (10_000, 100) : (100, 100)
            let voltage = Int(bytes[2]) << 8 | Int(bytes[3])
            let current = Int(bytes[4]) << 8 | Int(bytes[5])
            let power = bytes[6...9].reduce(0) { $0 << 8 | Int($1) }
            let resistance = bytes[122...125].reduce(0) { $0 << 8 | Int($1) }
            #expect(power == voltage * current / steps, "seed \(seed)")
            #expect(resistance == voltage * parts / current, "seed \(seed)")
        }
    }

    @Test func openCircuit_hasTheResistanceThatStandsForIt() throws {
        var meter = SimulatedUM(model: .um34c, load: ElectricalLoad(startCurrent: 0))
        let bytes = try #require(meter.receive([0xF0], at: .zero).first)
        #expect(bytes[122...125].reduce(0) { $0 << 8 | Int($1) } == 99_999)
    }

    /// Over Classic the first answer of an A3-B takes 4.5 s, and it hears nothing meanwhile; the second comes at once.
    @Test func a3b_takesItsTimeForTheFirstAnswer() {
        var meter = SimulatedUM(model: .a3b, over: .spp)
        for _ in 0..<2 {
            #expect(meter.receive([0xF0], at: .seconds(1)).isEmpty)
            #expect(meter.nextDue == .milliseconds(5500))
            #expect(meter.receive([0xF0, 0xF3], at: .seconds(2)).isEmpty)
            #expect(meter.due(at: .milliseconds(5499)).isEmpty)
            #expect(meter.due(at: .milliseconds(5500)).map(\.count) == [130])
            #expect(meter.nextDue == nil)
            #expect(meter.receive([0xF0], at: .seconds(6)).map(\.count) == [130])
            meter.powerCycle()
        }
        var radio = SimulatedUM(model: .a3b, over: .ble)
        #expect(radio.receive([0xF0], at: .zero).isEmpty)
        #expect(radio.receive(UMWrapping.frame(around: 0xF0), at: .zero).map(\.count) == [130])
        var other = SimulatedUM(model: .um24c, over: .spp)
        #expect(other.receive([0xF0], at: .zero).map(\.count) == [130])
    }
}
