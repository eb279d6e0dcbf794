import Notifications
import Testing

@testable import meterd

struct NotifyConfigurationTests {
    private static let kinds = #"it takes "webhook", "ntfy", "gotify" or "exec""#

    private func read(_ text: String) throws -> [NotificationTarget] { try Configuration(reading: text).notify }

    @Test func everyKind_isRead() throws {
        let targets = try read(
            """
            [notify.phone]
            kind = "ntfy"
            url = "https://ntfy.sh/topic"
            token-file = "/etc/meterd/token"
            [notify.desk]
            kind = "gotify"
            url = "http://gotify.lan:8080"
            [notify.home]
            kind = "webhook"
            url = "https://hooks.example.org/T0"
            timeout = "30s"
            [notify.lamp]
            kind = "exec"
            command = ["/usr/local/bin/lamp", "red"]
            """)

        #expect(targets.map(\.name) == ["desk", "home", "lamp", "phone"])
        #expect(targets.map(\.kind) == ["gotify", "webhook", "exec", "ntfy"])
        #expect(targets.map(\.limit) == [.seconds(10), .seconds(30), .seconds(10), .seconds(10)])
        #expect(targets[2].way == .program(["/usr/local/bin/lamp", "red"]))
        #expect(targets[3].tokenPath == "/etc/meterd/token")
    }

    @Test(arguments: [
        ("[notify.a]\nurl = \"https://b\"", "[notify.a] has no kind\n\(Self.kinds)"),
        ("[notify.a]\nkind = \"fax\"", "notify.a.kind cannot be \"fax\"\n\(Self.kinds)"),
        (
            "[notify.a]\nkind = \"ntfy\"",
            "notify.a.url is missing\ngive it an address, for example url = \"https://ntfy.sh/topic\""
        ),
        (
            "[notify.a]\nkind = \"ntfy\"\nurl = \"https://me:secret@b/\"",
            "notify.a.url is not an address\nit takes http:// or https:// with a host, without a user; a token goes into token-file"
        ),
        (
            "[notify.a]\nkind = \"exec\"\ncommand = [\"lamp\"]",
            "notify.a.command names no program by its path\ngive it one, for example command = [\"/usr/local/bin/alert\"]; no shell reads it"
        ),
        (
            "[notify.a]\nkind = \"exec\"\nurl = \"https://b\"",
            "notify.a.url is of no use with kind = \"exec\"\ntake it away"
        ),
        (
            "[notify.a]\nkind = \"ntfy\"\nurl = \"https://b\"\ncommand = [\"/lamp\"]",
            "notify.a.command is of no use with kind = \"ntfy\"\ntake it away"
        ),
        (
            "[notify.a]\nkind = \"exec\"\ncommand = [\"/lamp\"]\ntimeout = \"1h\"",
            "notify.a.timeout cannot be \"1h\"\nit takes a time from 1s to 5m"
        ),
        ("[notify.a]\nkindd = \"ntfy\"", "unknown key \"notify.a.kindd\"\ndid you mean \"notify.a.kind\"?"),
        (
            "[notify.\"a b\"]\nkind = \"ntfy\"",
            "[notify.a b] cannot be called that\na name has 1 to 32 letters, digits, \"-\" and \"_\""
        ),
        ("notify = 1", "notify has the wrong type\nit takes tables, [notify.NAME]"),
    ])
    func mistake_isNamedWithWhatIsLegal(text: String, words: String) {
        var said: String?

        do { _ = try read(text) } catch { said = "\(error)" }

        #expect(said == "meterd.toml: " + words)
        #expect(said?.contains("secret") == false)
    }
}
