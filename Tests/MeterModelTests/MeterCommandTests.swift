import Domain
import Testing

struct MeterCommandTests {
    /// A new command is sorted here by hand, whatever its name.
    @Test func everyKind_thatDestroysOrSwitches_saysSo() {
        let kinds = MeterCommand.Kind.allCases

        #expect(
            kinds.filter { $0.consequence == .destroys } == [
                .clearGroup, .clearEnergy, .clearCharge, .clearTime, .clearAll, .resetEnergy,
            ])
        #expect(kinds.filter { $0.consequence == .switches } == [.enter])
        #expect(kinds.filter { $0.consequence == .draws } == [.loadOn, .loadCurrent, .loadCutoff, .loadTimer])
        #expect(kinds.filter { $0.consequence == .supplies } == [.sourceVoltage])
        #expect(
            kinds.filter { $0.consequence == nil } == [
                .nextScreen, .previousScreen, .rotate, .brightness, .screenTimeout, .selectGroup, .nextGroup,
                .recordThreshold, .setup, .plus, .minus, .price, .loadOff, .sourceOff,
            ])
    }

    @Test func commands_contradictEachOther_whereAMeterCannotBeAsBothSay() {
        let (on, off) = (MeterCommand(.loadOn), MeterCommand(.loadOff))
        #expect(on.contradicts(off) && off.contradicts(on))
        #expect(!on.contradicts(on) && !off.contradicts(off))
        #expect(MeterCommand(.loadCurrent, 10).contradicts(MeterCommand(.loadCurrent, 20)))
        #expect(!MeterCommand(.loadCurrent, 10).contradicts(MeterCommand(.loadCurrent, 10)))
        #expect(!MeterCommand(.loadCurrent, 10).contradicts(MeterCommand(.loadCutoff, 20)))
        #expect(!on.contradicts(MeterCommand(.loadCurrent, 20)) && !MeterCommand(.loadTimer, 1).contradicts(off))
    }

    @Test func everyClearingCommand_destroys() {
        let clearing = MeterCommand.Kind.allCases.filter { $0.rawValue.hasPrefix("clear") }

        #expect(!clearing.isEmpty && clearing.allSatisfy { $0.consequence == .destroys })
    }
}
