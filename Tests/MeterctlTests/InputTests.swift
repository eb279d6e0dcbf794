import ProgramKit
import Testing

@testable import meterctl

struct PortOrderTests {
    @Test(arguments: [
        ("fault garbage", "garbage", 1), (" fault  short 3 ", "short", 3), ("fault none", "none", 1),
        ("fault silence\r", "silence", 1),
    ])
    func fault_hasItsKind_andItsPeriod(_ line: String, _ kind: String, _ period: Int) throws {
        #expect(try PortOrder(line) == .faults(PortConsole.faults(kind, every: period)))
    }

    @Test(arguments: [("power-cycle", PortOrder.powerCycle), ("unplug", .unplug), (" plug ", .plug)])
    func order_isRead(_ line: String, _ order: PortOrder) throws {
        #expect(try PortOrder(line) == order)
    }

    @Test(arguments: ["", "  "])
    func emptyLine_isNoOrder(_ line: String) throws {
        #expect(try PortOrder(line) == nil)
    }

    @Test(arguments: [
        "fault", "fault fire", "fault garbage abc", "fault garbage 0", "fault garbage -1", "fault garbage 3 4",
        "power-cycle now", "unplug it", "plug 1", "quit", "fault none x",
    ])
    func anythingElse_isWrongUsage(_ line: String) {
        let failure = #expect(throws: CommandFailure.self) { try PortOrder(line) }

        #expect(failure?.status == .usage)
    }
}
