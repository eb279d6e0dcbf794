import ArgumentParser
import CloudServer
import Domain
import Logging
import Testing

@testable import metercloud

/// What people may type.
struct OptionsTests {
    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1", 80), ("[::1]:8643", "::1", 8643), (":9000", "0.0.0.0", 9000),
        ("9000", "0.0.0.0", 9000), ("localhost:0", "localhost", 0), ("[::]:1", "::", 1),
    ])
    func address_isRead(text: String, host: String, port: Int) {
        #expect(ServeAddress(argument: text) == ServeAddress(host: host, port: port))
    }

    @Test(arguments: ["", "host", "host:", "1.2.3.4:65536", "::1:80", "[1.2.3.4]:80", "[x]:80", "a:+80", "a:-1"])
    func otherText_isNoAddress(text: String) {
        #expect(ServeAddress(argument: text) == nil)
    }

    @Test func address_printsAsItStandsInAURL() {
        #expect(ServeAddress(host: "::1", port: 80).description == "[::1]:80")
        #expect(ServeAddress.everywhere.description == "0.0.0.0:8643")
    }

    @Test(arguments: [
        (["serve"], "0.0.0.0:8643", true), (["serve", "--no-tls", "--listen", "127.0.0.1:1"], "127.0.0.1:1", false),
        (["serve", "--no-tls", "--listen", "[::1]:1"], "[::1]:1", false),
    ])
    func serve_needsNoOption(arguments: [String], address: String, usesTLS: Bool) throws {
        let serve = try #require(try Metercloud.parseAsRoot(arguments) as? Serve)

        #expect(serve.listen.description == address)
        #expect(serve.noTls != usesTLS)
        #expect(serve.rate == 100)
        #expect(serve.logLevel == .info)
    }

    @Test(arguments: [
        (
            ["serve", "--no-tls"],
            "--no-tls would send tokens over the network in the clear from 0.0.0.0:8643; listen on 127.0.0.1 with it, or leave it out"
        ),
        (["serve", "--name", "a:1"], "--name cannot be \"a:1\"; it is a host name or an address, without port"),
        (["serve", "--rate", "0"], "--rate cannot be 0; it is at least 1"),
        (["serve", "--data", ""], "--data names no folder"),
        (["serve", "--backup-directory", ""], "--backup-directory names no folder"),
        (["serve", "--backup-every", "1m"], "--backup-every cannot be \"1m\"; it is from 1h to 720h"),
        (["serve", "--backup-keep", "1"], "--backup-keep cannot be 1; it is from 2 to 1000"),
        (["zone", "set", "home"], "nothing to change: give --policy, --ttl, --lock-delay or a limit"),
        (["zone", "set", "home", "--max-records", "0"], "--max-records cannot be 0; it is from 1 to 1000000000"),
        (
            ["zone", "set", "home", "--host-megabytes", "9000000000"],
            "--host-megabytes cannot be 9000000000; it is from 1 to 1000000000"
        ),
        (["zone", "set", "home", "--policy", "lax"], "\"lax\" is not a policy; it is keep or strict"),
        (["zone", "set", "home", "--ttl", "5s"], "--ttl cannot be 5s; it is from 30s to 10m"),
        (
            ["zone", "create", "x", "--lock-delay", "soon"],
            "--lock-delay cannot be \"soon\"; it takes a time such as 90s or 2m"
        ),
    ])
    func wrongOption_isRefused_inTheseWords(arguments: [String], words: String) {
        #expect {
            _ = try Metercloud.parseAsRoot(arguments)
        } throws: {
            Metercloud.message(for: $0) == words && Metercloud.exitCode(for: $0) == .validationFailure
        }
    }

    @Test(
        arguments: [
            ([:], UInt32(0), "/var/lib/metercloud"), (["HOME": "/home/u"], 7, "/home/u/.local/state/metercloud"),
            (["HOME": "/home/u", "XDG_STATE_HOME": "/s"], 7, "/s/metercloud"),
            (["HOME": "/home/u", "XDG_STATE_HOME": "relative"], 7, "/home/u/.local/state/metercloud"),
            (["HOME": "/home/u", "METERCLOUD_DATA": "/d"], 7, "/d"),
            (["METERCLOUD_DATA": ""], 0, "/var/lib/metercloud"),
            (["HOME": "/", "STATE_DIRECTORY": "/var/lib/cloud"], 998, "/var/lib/cloud"),
            (["HOME": "/home/u", "STATE_DIRECTORY": "/a:/b"], 7, "/home/u/.local/state/metercloud"),
        ] as [([String: String], UInt32, String)])
    func folder_hasItsStandardPlace(environment: [String: String], user: UInt32, path: String) {
        #expect(DataOptions.standardPath(environment: environment, userID: user) == path)
    }

    @Test(arguments: [("/a/b-c.d", "/a/b-c.d"), ("/a b", "'/a b'"), ("/it's", "'/it'\\''s'"), ("", "''")])
    func path_isQuotedWhereAShellWouldSplitIt(path: String, quoted: String) {
        #expect(path.shellQuoted == quoted)
    }
}
