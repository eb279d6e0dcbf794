import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct AlertOutputTests {
    private func alert() -> AlertBody {
        var body = AlertBody(
            id: 7, meter: "02:00:00:00:25:0C", condition: "current < 50mA for 2m", notify: ["phone", "lamp"],
            state: "raised", count: 2)
        (body.name, body.meter_name) = ("charged", "bench")
        (body.raised_at, body.quantity, body.value) = ("2026-11-21T13:40:05.250Z", "current_A", 0.0431)
        return body
    }

    @Test func list_isATable() {
        #expect(
            AlertText.table([alert()], .utc).lines == [
                "ID  METER  NAME     CONDITION              STATE   LAST                  COUNT  TELLS",
                "7   bench  charged  current < 50mA for 2m  raised  2026-11-21 13:40:05Z  2      phone, lamp",
            ])
    }

    @Test func alert_isTold_withItsValue() {
        let lines = AlertText.table(alert(), .utc).lines

        #expect(lines.contains("meter         bench (02:00:00:00:25:0C)"))
        #expect(lines.contains("last raised   2026-11-21 13:40:05Z"))
        #expect(lines.contains("by the value  0.043 A"))
        #expect(lines.contains("last over     never"))
    }

    @Test func status_saysHowManyAreRaised() {
        #expect(AlertText.line(raised: nil) == nil)
        #expect(AlertText.line(raised: 0) == nil)
        #expect(AlertText.line(raised: 1) == "1 alert is raised: meterctl alert list")
        #expect(AlertText.line(raised: 2) == "2 alerts are raised: meterctl alert list")
    }

    @Test(arguments: [
        [
            "alert", "add", "bench", "current < 50mA for 2m", "--name", "charged", "--notify", "phone", "--notify",
            "lamp",
        ],
        ["alert", "list", "--json"], ["alert", "show", "1"], ["alert", "remove", "charged"], ["alert", "test", "1"],
    ])
    func command_isTaken(arguments: [String]) async throws {
        _ = try await Meterctl.command(for: arguments)
    }
}
