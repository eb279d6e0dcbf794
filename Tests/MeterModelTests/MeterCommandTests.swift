import MeterModel
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
        #expect(
            kinds.filter { $0.consequence == nil } == [
                .nextScreen, .previousScreen, .rotate, .brightness, .screenTimeout, .selectGroup, .nextGroup,
                .recordThreshold, .setup, .plus, .minus, .price,
            ])
    }

    @Test func everyClearingCommand_destroys() {
        let clearing = MeterCommand.Kind.allCases.filter { $0.rawValue.hasPrefix("clear") }

        #expect(!clearing.isEmpty && clearing.allSatisfy { $0.consequence == .destroys })
    }
}
