import CoreTestKit
import Domain
import Testing

/// What a holder does with the commands of other hosts.
struct CommandDutyTests {
    private func command(_ id: UInt64 = 1, token: UInt64 = 7, _ action: RelayAction = .stopRecording) -> RelayCommand {
        RelayCommand(
            id: .numbered(id), meter: .mac(MACAddress(bits: 1)), token: FencingToken(rawValue: token),
            action: action, author: .numbered(2), authorName: "pi2")
    }

    private func expect(
        _ command: RelayCommand, _ expected: CommandDuty.Verdict, _ duty: inout CommandDuty,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let verdict = duty.received(command, holding: FencingToken(rawValue: 7), isAllowed: true)
        #expect(verdict == expected, sourceLocation: sourceLocation)
    }

    @Test func command_isClaimedOnce() {
        var duty = CommandDuty()
        expect(command(), .claim, &duty)
        expect(command(), .ignore, &duty)
        expect(command(2), .claim, &duty)
    }

    @Test(arguments: [nil, 6, 8] as [UInt64?])
    func command_forAnotherToken_isNotDone(held: UInt64?) {
        var duty = CommandDuty()
        let verdict = duty.received(command(), holding: held.map { FencingToken(rawValue: $0) }, isAllowed: true)
        guard case .answer(.notDone) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test func hostThatTakesNoCommands_saysSo_andHowToChangeThat() {
        var duty = CommandDuty()
        let verdict = duty.received(command(), holding: FencingToken(rawValue: 7), isAllowed: false)
        guard case .answer(.refused(let code, _, let next)) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(code == "refused")
        #expect(next.contains("[relay] commands"))
    }

    @Test func actionOfANewerVersion_isRefused() {
        var duty = CommandDuty()
        let newer = command(1, .unknown("dance"))
        guard case .answer(.refused) = duty.received(newer, holding: newer.token, isAllowed: true) else {
            Issue.record("it was not refused")
            return
        }
    }

    @Test(
        arguments: [(0, 7, true), (4_999, 7, true), (5_000, 7, false), (0, 8, false), (0, nil, false)]
            as [(Int64, UInt64?, Bool)])
    func granted_isDoneInTimeAndUnderTheLease(after: Int64, held: UInt64?, acts: Bool) {
        let sent = MonotonicTime.origin + .seconds(100)
        let deadline = CommandDuty.granted(
            command(), sent: sent, holding: held.map { FencingToken(rawValue: $0) },
            at: sent + .milliseconds(after))
        #expect(deadline == (acts ? sent + .seconds(5) : nil))
    }

    /// Bounded: an id that is forgotten may be claimed again, which the cloud does not grant.
    @Test func manyCommands_areNotRememberedForEver() {
        var duty = CommandDuty()
        for id in 0..<1000 as Range<UInt64> {
            expect(command(id), .claim, &duty)
        }
        expect(command(1000 - 256), .ignore, &duty)
        expect(command(999 - 256), .claim, &duty)
    }
}
