import ArgumentParser
import GatewayAPI
import ProgramKit

struct Web: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the address of the web page, or open the page to the network with a login.",
        subcommands: [Enable.self, Disable.self, URLs.self], defaultSubcommand: URLs.self)

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open the page to the network, and print the token for the login.",
            discussion: """
                The token is shown only once. Running the command again creates a new token and ends every login. The \
                connection is encrypted only with tls = "self-signed" or a certificate below [web] in meterd.toml: see \
                Docs/Web.md.
                """)

        @OptionGroup var daemon: DaemonOptions
        @Option(help: "Address and port to listen on. Default: all addresses, and the port in the configuration.")
        var listen: String?
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: WebStatus = try await daemon.client.call(
                .post, "/v1/web", body: WebEnableRequest(listen: listen))
            if try json.print(status) { return }
            Web.show(status)
            if let token = status.token { Terminal.line("token: \(token)") }
            Terminal.talk("The token is shown this once. It stays good until meterctl web enable or disable.")
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Serve the page on this machine only, and end every login.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: WebStatus = try await daemon.client.call(.delete, "/v1/web")
            if try json.print(status) { return }
            Web.show(status)
        }
    }

    struct URLs: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "url", abstract: "Print the page's URL, and the fingerprint of its certificate.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: WebStatus = try await daemon.client.call(.get, "/v1/web")
            if try json.print(status) { return }
            guard status.serving || status.error != nil else {
                throw CommandFailure(
                    .error, "this meterd serves no web page", next: "set [web] serve = true in meterd.toml")
            }
            Web.show(status)
        }
    }

    private static func show(_ status: WebStatus) {
        for url in status.urls { Terminal.line(url) }
        if let tls = status.tls, let fingerprint = tls.fingerprint {
            Terminal.talk("certificate\(tls.self_signed ? ", self-signed" : "") (SHA-256): \(fingerprint)")
        }
        if let error = status.tls?.error { Terminal.talk("the certificate cannot be used: \(error)") }
        if let warning = status.warning { Terminal.talk("\(warning): \(WebStatus.encryption)") }
        if let error = status.error { Terminal.talk("not served yet: \(error); \(status.next ?? "")") }
    }
}

extension WebStatus {
    static let encryption = "tls = \"self-signed\" below [web] in meterd.toml encrypts it"
}
