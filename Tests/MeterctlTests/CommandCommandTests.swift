import Domain
import GatewayAPI
import Testing

@testable import meterctl

/// What `meterctl command` asks and says.
struct CommandCommandTests {
    @Test func deed_isAskedAbout_ofWhatDestroysOrSwitches_only() {
        for kind in MeterCommand.Kind.allCases {
            #expect((Command.deed(kind.rawValue, on: "bench") != nil) == (kind.consequence != nil))
        }
        #expect(Command.deed("explode", on: "bench") == nil)
        #expect(
            Command.deed("clear-group", on: "bench")
                == "send clear-group to bench, which empties what it has counted, for good")
        #expect(Command.deed("enter", on: "dl24") == "send enter to dl24, which on a load switches it on or off")
        #expect(
            Command.deed("load-on", on: "dl24")
                == "send load-on to dl24, after which more current may be drawn from what is connected to it")
        #expect(Command.deed("load-off", on: "dl24") == nil)
    }

    @Test func settingThatKeepsIt_isNamed_whereThereIsOne() {
        let known = CommandsBody(
            meter: "m", model: "UM25C",
            commands: [
                CommandBody(.brightness, numbers: 0...5, step: 1, setting: "brightness"),
                CommandBody(.selectGroup, numbers: 0...9, step: 1, setting: nil),
            ])
        func words(_ command: String, _ number: Int?) -> String? {
            Command.howToKeep(CommandRequest(command: command, number: number), of: "my bench", known)
        }

        #expect(
            words("brightness", 3)
                == "for now: meterctl set \"my bench\" brightness=3 keeps it, at each connect and on every host")
        #expect(words("select-group", 3) == nil)
        #expect(words("brightness", nil) == nil)
        #expect(Command.howToKeep(CommandRequest(command: "brightness", number: 3), of: "m", nil) == nil)
    }
}
