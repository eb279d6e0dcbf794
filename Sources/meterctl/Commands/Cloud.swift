import ArgumentParser
import CloudAPI
import Domain
import GatewayAPI
import ProgramKit

struct Cloud: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Join or leave a cloud, show its status, or retire another host.",
        subcommands: [Join.self, Leave.self, Status.self, Retire.self], defaultSubcommand: Status.self)

    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join a cloud, to share settings and leases with its other hosts.",
            discussion: """
                metercloud serve prints the complete command. You can give several URLs if they are replicas of one \
                cloud. Without a URL, meterctl offers the clouds that Avahi finds in the network, and asks you to \
                compare the fingerprint.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Argument(
            help: "URL of the cloud, such as https://bench-pi:8643. Give several URLs only for replicas of one cloud.")
        var urls: [String] = []
        @Option(help: "File with the token, or - for standard input.", completion: .file())
        var tokenFile: String
        @Option(help: "Fingerprint of the cloud's self-signed certificate: sha256:…")
        var pin: String?
        @Flag(
            help:
                """
                After a move from another zone: send all settings. Default: send only settings made on this host and settings of meters \
                that this host has detected before.
                """
        )
        var bringAll = false
        @OptionGroup var json: JSONOption

        func run() async throws {
            var (urls, pin) = (urls, pin)
            let token = try Self.token(in: tokenFile)
            if urls.isEmpty {
                let cloud = try await CloudOffers.choose(pin: pin)
                (urls, pin) = ([cloud.url], cloud.pin.description)
            }
            // meterd sends the access token only to a server that has the pinned key.
            let request = CloudJoinRequest(
                urls: urls, token: token, pin: pin, bring_all: bringAll ? true : nil)
            let status: CloudStatus = try await daemon.client.call(
                .post, "/v1/cloud/join", body: request, patience: .seconds(60))
            if try json.print(status) { return }
            Terminal.talk("joined \(status.zone.map { "the zone \($0)" } ?? "the cloud") as \(status.host_name)")
        }

        /// Returns the access token, a single word. Errors contain the file's name but never the token.
        static func token(in path: String) throws -> String {
            let words = String(decoding: try InputFile.bytes(of: path), as: UTF8.self).split(
                whereSeparator: \.isWhitespace)
            guard words.count == 1, let token = words.first, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                throw CommandFailure(
                    .usage, "\(path) holds no token, which is one word",
                    next: "metercloud token create makes one; store what it prints in that file")
            }
            return String(token)
        }
    }

    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave the cloud. Keeps the settings and releases the leases.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: CloudStatus = try await daemon.client.call(.delete, "/v1/cloud", patience: .seconds(60))
            if try json.print(status) { return }
            Terminal.talk("\(status.host_name) has left the cloud")
        }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove another host from the cloud permanently.",
            discussion: "Revokes its tokens, frees its leases and deletes its name. Its settings and recordings stay.")

        @OptionGroup var daemon: DaemonOptions
        @Argument(help: "The host's id, or its name if unique.", completion: .hosts) var host: String
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var json: JSONOption

        func run() async throws {
            guard !host.isEmpty else {
                throw CommandFailure(.usage, "\"\" names no host", next: "meterctl who shows who has meters")
            }
            try confirmation.confirm("shut \(host) out of the cloud for good")
            let gone: RetiredHost = try await daemon.client.call(
                .post, "/v1/cloud/hosts/\(host.percentEncoded)/retire", patience: .seconds(60))
            if try json.print(gone) { return }
            Terminal.talk("\(gone.name) is retired: \(gone.tokens) tokens, \(gone.leases.count) leases")
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show this host's cloud and the connection to it.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: CloudStatus = try await daemon.client.call(.get, "/v1/cloud")
            if try json.print(status) { return }
            Self.table(status).print()
        }

        static func table(_ status: CloudStatus) -> Table {
            var table = Table(["FIELD", "VALUE"])
            func add(_ field: String, _ value: String?) { table.add([.init(field), .init(value ?? "–")]) }
            add("joined", status.joined ? "yes" : "no; meterctl cloud join URL --token-file FILE --pin sha256:…")
            add("host", "\(status.host_name) (\(status.host_id))")
            if status.joined {
                add("zone", status.zone)
                add("urls", status.urls.joined(separator: ", "))
                add("pin", status.pin)
                add("connected", status.connected ? "yes" : "no")
                add("policy", status.policy)
                if let role = status.role {
                    add(
                        "may",
                        role == HostRole.readOnly.rawValue ? "only look: its token is read-only" : "do everything")
                }
                add("clock", status.clock_offset_ms.map { SyncText.clock(aheadBy: $0) })
            }
            if let unserved = status.unserved {
                add("serving", "not yet: \(unserved)")
            } else if let serving = status.serving {
                add("serving", serving)
            }
            if let error = status.error { add("error", error) }
            return table
        }
    }
}
