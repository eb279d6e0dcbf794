import Domain
import Foundation
import MeterTestKit
import Notifications
import Testing

@testable import meterd

struct InfluxConfigurationTests {
    private func read(_ text: String) throws -> Configuration.Influx { try Configuration(reading: text).influx }

    @Test func default_sendsNowhere() throws {
        #expect(try read("").target == nil)
    }

    @Test func everyKey_isRead() throws {
        let influx = try read(
            """
            [influx]
            url = "https://influx.lan:8086/secret"
            bucket = "my bucket"
            org = "home"
            token-file = "/etc/meterd/token"
            measurement = "usb meter"
            interval = "30s"
            back-fill = "2h"
            timeout = "5s"
            """)

        let target = try #require(influx.target)
        #expect(target.place == .bucket("my bucket", org: "home"))
        #expect((target.tokenPath, target.user) == ("/etc/meterd/token", nil))
        #expect(target.limit == .seconds(5))
        #expect((influx.measurement, influx.interval, influx.backFill) == ("usb meter", .seconds(30), .seconds(7200)))
        // The path may be a secret.
        #expect("\(target.address)" == "https://influx.lan:8086")
        // Another path may be another tenant.
        #expect(target.identity == "https://influx.lan:8086/secret bucket home my bucket")
    }

    @Test func database_hasAUserAndAPassword() throws {
        let target = try #require(
            try read(
                """
                [influx]
                url = "http://127.0.0.1:8428"
                database = "home"
                user = "ann"
                token-file = "/etc/meterd/password"
                """
            ).target)

        #expect(target.place == .database("home"))
        #expect((target.user, target.tokenPath) == ("ann", "/etc/meterd/password"))
    }

    @Test(arguments: [
        ("influx = 1", "influx has the wrong type\nit takes a table, [influx]"),
        (
            "[influx]\nbucket = \"b\"",
            "[influx] has no url\ngive it the server, for example url = \"https://influx.lan:8086\""
        ),
        (
            "[influx]\nurl = \"https://me:secret@b/\"\nbucket = \"b\"",
            "influx.url is not an address\nit takes http:// or https:// with a host, without a user and a query; a token goes into token-file"
        ),
        (
            "[influx]\nurl = \"https://b/write?p=secret\"\nbucket = \"b\"",
            "influx.url is not an address\nit takes http:// or https:// with a host, without a user and a query; a token goes into token-file"
        ),
        (
            "[influx]\nurl = \"https://b\"",
            "[influx] needs either bucket or database\nbucket and org for InfluxDB 2, database for InfluxDB 1 and VictoriaMetrics"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\ndatabase = \"d\"",
            "[influx] needs either bucket or database\nbucket and org for InfluxDB 2, database for InfluxDB 1 and VictoriaMetrics"
        ),
        (
            "[influx]\nurl = \"https://b\"\ndatabase = \"d\"\norg = \"o\"",
            "influx.org is of no use with database\ntake it away, or give bucket instead"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\nuser = \"ann\"",
            "influx.user is of no use with bucket\ntake it away; a bucket has a token"
        ),
        (
            "[influx]\nurl = \"https://b\"\ndatabase = \"d\"\nuser = \"ann\"",
            "influx.user has no password\nput it into a file, and name that as token-file"
        ),
        (
            "[influx]\nurl = \"https://b\"\ndatabase = \"d\"\nuser = \"ann:secret\"\ntoken-file = \"/t\"",
            "influx.user is not a user's name\nit takes a name without a colon; the password goes into token-file"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\ntoken-file = \"token\"",
            "influx.token-file cannot be \"token\"\nit takes a path that begins with /"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\nmeasurement = \"#meter\"",
            "influx.measurement cannot be \"#meter\"\nit takes 1 to 64 bytes, and does not begin with # or _"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\nmeasurement = \"\"",
            "influx.measurement cannot be \"\"\nit takes 1 to 64 bytes, and does not begin with # or _"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\ninterval = \"2h\"",
            "influx.interval cannot be \"2h\"\nit takes a time from 1s to 1h"
        ),
        (
            "[influx]\nurl = \"https://b\"\nbucket = \"b\"\nback-fill = \"0s\"",
            "influx.back-fill cannot be \"0s\"\nit takes a time from 1m to 8760h"
        ),
        ("[influx]\nbukket = \"b\"", "unknown key \"influx.bukket\"\ndid you mean \"influx.bucket\"?"),
    ])
    func mistake_isNamedWithWhatIsLegal(text: String, words: String) {
        var said: String?

        do { _ = try read(text) } catch { said = "\(error)" }

        #expect(said == "meterd.toml: " + words)
        #expect(said?.contains("secret") == false)
    }
}

/// The file that says up to when readings were sent.
struct InfluxJournalTests {
    private let meter = MeterID.mac(MACAddress(bits: 1))
    private let port = MeterID.port(host: "pi", path: "usb 1/\"2\"")
    private let wall = WallTime(millisecondsSince1970: 1_780_000_000_250)

    @Test func whatIsSaved_isLoaded_forTheSameServerAlone() throws {
        let folder = try TemporaryFolder()
        let journal = InfluxJournal(path: "\(folder.path)/influx.json", target: "http://a home")

        #expect(try journal.load().isEmpty)
        try journal.save([meter: wall, port: wall + .seconds(1)])

        #expect(try journal.load() == [meter: wall, port: wall + .seconds(1)])
        #expect(try InfluxJournal(path: journal.path, target: "http://b home").load().isEmpty)
    }

    @Test func rubbish_isSaid_andReplaced() throws {
        let folder = try TemporaryFolder()
        let journal = InfluxJournal(path: "\(folder.path)/influx.json", target: "t")
        try "{\"sent\": 7".write(toFile: journal.path, atomically: true, encoding: .utf8)

        #expect(throws: (any Error).self) { try journal.load() }
        try journal.save([meter: wall])
        #expect(try journal.load() == [meter: wall])
    }
}
