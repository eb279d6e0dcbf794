import Domain
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

/// What `meterctl sync parked` and `meterctl rebuild` print.
struct SyncOutputTests {
    @Test(arguments: [(0, "0"), (999, "999"), (1206, "1,206"), (1_234_567, "1,234,567"), (-1206, "-1,206")])
    func counts_areGrouped(number: Int, text: String) { #expect(Formatting.count(number) == text) }

    @Test func rebuildWithNothingToDo_saysWhatItLookedAt() {
        let line = RebuildLine(.complete, version: 1, scanned: 1206, folded: 0)
        #expect(Rebuild.summary(line) == "complete: 1,206 records looked at, nothing to do")
    }

    @Test func rebuildThatFolded_saysHowMany() {
        let line = RebuildLine(.complete, version: 1, scanned: 20, folded: 3)
        #expect(Rebuild.summary(line) == "complete: 20 records looked at, 3 folded")
    }

    @Test func parkedEntry_hasItsReasonValuesAndDate() {
        let entry = ParkedEntry(
            id: "a3", reason: .unlisted, words: "not listed", type: "DeviceSettings", name: "AA",
            values: ["name": "Desk"],
            own: true, zone: "home", at: WallTime(millisecondsSince1970: 0))
        let text = Sync.Parked.List.table(ParkedBody(entries: [entry]), .berlin).lines.joined(separator: "\n")
        for word in ["a3", "unlisted, own", "DeviceSettings AA", "name=Desk", "1970-01-01", "not listed"] {
            #expect(text.contains(word))
        }
    }
}
