import Domain
import Testing

@testable import BluetoothCore

struct AdapterCommandsTests {
    private let timing = AdapterTiming()

    @Test func command_keepsOthersBack_untilItsOwnAnswer() {
        var commands = AdapterCommands()
        #expect(commands.send(.readInfo, at: .origin) == [.send(.readInfo)])
        #expect(commands.mayContinue(at: .origin) == false)
        #expect(commands.answered(opcode: ManagementCommand.setPowered(true).opcode) == nil)
        #expect(commands.answered(opcode: ManagementCommand.readInfo.opcode) == .readInfo)
        #expect(commands.answered(opcode: ManagementCommand.readInfo.opcode) == nil)
        #expect(commands.mayContinue(at: .origin) == true)
    }

    @Test func failure_holdsTheNextCommand_longerEachTime_upToAMinute() {
        var commands = AdapterCommands()
        var holds: [Duration] = []
        for _ in 0..<8 {
            commands.fail(at: .origin, timing)
            holds.append(commands.wakeTime(timing).map { $0 - .origin } ?? .zero)
        }
        #expect(holds == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(commands.mayContinue(at: Duration.seconds(59).moment) == false)
        #expect(commands.mayContinue(at: Duration.seconds(60).moment) == true)
        #expect(commands.wakeTime(timing) == nil)
    }

    @Test func everyFourthFailure_needsARemedy_unlessOneSucceeded() {
        var commands = AdapterCommands()
        #expect(!commands.alwaysFail)
        let alwaysFail = (0..<8).map { _ in
            commands.fail(at: .origin, timing)
            return commands.alwaysFail
        }
        #expect(alwaysFail == [false, false, false, true, false, false, false, true])
        commands.succeed()
        #expect(!commands.alwaysFail)
    }

    @Test(arguments: [ManagementCommand.readInfo, .setPowered(true)])
    func command_isGivenUp_powerLaterThanOthers(command: ManagementCommand) {
        var commands = AdapterCommands()
        let limit = command == .readInfo ? timing.answerLimit : timing.powerLimit
        _ = commands.send(command, at: .origin)
        #expect(commands.expire(at: (limit - .seconds(1)).moment, timing) == nil)
        #expect(commands.expire(at: limit.moment, timing) == command)
        #expect(!commands.isWaiting)
    }

    @Test func success_beginsTheWaitsAnew() {
        var commands = AdapterCommands()
        for _ in 0..<2 {
            for hold in [1, 2, 4] {
                commands.fail(at: .origin, timing)
                #expect(commands.wakeTime(timing) == .seconds(hold))
            }
            commands.succeed()
        }
    }

    @Test func commandThatIsGivenUp_countsAsFailed_andItsAnswerComesTooLate() {
        var commands = AdapterCommands()
        _ = commands.send(.readInfo, at: .origin)
        #expect(commands.wakeTime(timing) == timing.answerLimit.moment)
        _ = commands.expire(at: timing.answerLimit.moment, timing)
        #expect(commands.wakeTime(timing) == (timing.answerLimit + timing.retryBase).moment)
        #expect(commands.answered(opcode: ManagementCommand.readInfo.opcode) == nil)
        #expect(commands.mayContinue(at: timing.answerLimit.moment) == false)
    }

    /// The answer to a command that is out says nothing about the next.
    @Test func abandonedCommand_isNotWaitedFor_norHeldAgainstIt() {
        var commands = AdapterCommands()
        for command in [ManagementCommand.startDiscovery(.classic), .stopDiscovery(.classic), .readInfo] {
            _ = commands.send(command, at: .origin)
            #expect(commands.isWaiting)
            #expect(commands.isStartingDiscovery == (command == .startDiscovery(.classic)))
            #expect(commands.isStoppingDiscovery == (command == .stopDiscovery(.classic)))
            commands.abandon()
            #expect(!commands.isWaiting)
            #expect(!commands.isStartingDiscovery && !commands.isStoppingDiscovery)
            #expect(commands.mayContinue(at: .origin) == true)
        }
        commands.hold(until: .seconds(3))
        #expect(!commands.alwaysFail)
        #expect(commands.wakeTime(timing) == .seconds(3))
    }
}
