import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

/// What `meterctl get` and `set` show.
struct SettingsOutputTests {
    private var settings: [SettingBody] {
        var name = SettingBody("name", origin: .here)
        (name.value, name.at) = ("Bench", "2026-11-22T08:00:00.000Z")
        var interval = SettingBody("poll-interval", origin: .elsewhere)
        (interval.value, interval.default) = ("2s", "500ms")
        (interval.at, interval.host) = ("2026-11-20T08:00:00.000Z", "pi-attic")
        var stale = SettingBody("stale-after")
        // It was set, and taken back.
        (stale.default, stale.at, stale.host) = ("6s", "2026-11-20T08:00:00.000Z", "pi-attic")
        var brightness = SettingBody("brightness")
        (brightness.command, brightness.values) = ("brightness", ["0", "1"])
        return [name, interval, stale, brightness]
    }

    @Test func everySetting_isThere_withItsDefaultAndItsOrigin() {
        #expect(
            Get.table(settings, .berlin).lines == [
                "SETTING        VALUE  DEFAULT  SET BY     WHEN",
                "name           Bench  –        this host  09:00:00",
                "poll-interval  2s     500ms    pi-attic   2026-11-20 09:00:00",
                "stale-after    6s     6s       default",
                "brightness     –      –        default",
            ])
    }

    @Test func commandThatDoesTheSame_isNamed() {
        let changes: [String: String?] = ["brightness": "3", "name": "Bench", "poll-interval": nil]

        #expect(
            Set.onceInstead(of: changes, on: "my bench", ["brightness": "brightness"]) == [
                "brightness is kept, and sent at each connect: meterctl command \"my bench\" brightness 3 does it once"
            ])
        #expect(Set.onceInstead(of: changes, on: "m", [:]) == [])
    }
}

/// What the shell is offered behind TAB.
struct CompletionTests {
    @Test(arguments: [
        (["meterctl", "command", "bench", ""], ["bench"]), (["meterctl", "command", "\"my bench\"", ""], ["my bench"]),
        (["meterctl", "command", "my\\ bench", ""], ["my bench"]),
        (["meterctl", "record", "show", "1a2b", ""], ["1a2b"]),
        (["meterctl", "connect", "--timeout", "5s", "bench", "--detach", ""], ["bench"]),
        (["meterctl", "set", "status", "name=x", ""], ["status", "name=x"]),
        (["meterctl", "--socket", "/s", "get", "bench", ""], ["bench"]), (["meterctl", ""], []), ([], []),
    ])
    func typedWords_leaveOptionsAndCommandsAway(_ words: [String], _ positionals: [String]) {
        #expect(TypedWords(words, before: words.count - 1).positionals == positionals)
    }

    @Test func socket_isTheOneThatIsTyped() {
        #expect(TypedWords(["meterctl", "get", "--socket", "/a b", ""], before: 4).socket == "/a b")
        #expect(TypedWords(["meterctl", "get", "--socket=/s", ""], before: 3).socket == "/s")
        #expect(TypedWords(["meterctl", "get", ""], before: 2).socket == nil)
    }

    @Test func values_areThoseOfTheKey() {
        var unit = SettingBody("temperature-unit")
        (unit.values, unit.default) = (["C", "F"], "C")
        var interval = SettingBody("poll-interval")
        interval.default = "500ms"
        let settings = [SettingBody("name"), unit, interval]

        #expect(Completion.changes(of: settings, prefix: "") == ["name=", "temperature-unit=", "poll-interval="])
        #expect(Completion.changes(of: settings, prefix: "temp") == ["name=", "temperature-unit=", "poll-interval="])
        #expect(
            Completion.changes(of: settings, prefix: "temperature-unit=") == [
                "temperature-unit=C", "temperature-unit=F",
            ])
        #expect(Completion.changes(of: settings, prefix: "poll-interval=5") == ["poll-interval=500ms"])
        #expect(Completion.changes(of: settings, prefix: "name=") == [])
    }

    @Test func meters_areNames_ids_andModelsOfWhichThereIsOne() {
        let meters = [("a", "Bench", "UM25C"), ("b", nil, "UM25C"), ("c", nil, "KM003C")].map { id, name, model in
            var meter = MeterStatus(
                id: id, state: "offline", since: "s", local_only: false, wanted: false, counters: .init())
            (meter.name, meter.model) = (name, model)
            return meter
        }

        #expect(Completion.handles(of: meters) == ["Bench", "a", "b", "c", "KM003C"])
    }
}
