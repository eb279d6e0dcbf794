import ArgumentParser
import CloudServer
import Glibc
import LinuxIO
import ProgramKit

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create, list or revoke the tokens with which hosts log in.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a token and print it. It cannot be shown again.",
            discussion: """
                A token belongs to the first host that uses it. With --enrolment, any number of hosts can join with \
                the token, and each gets a token of its own. With --read-only, a host that joins with the token can \
                read everything in the zone but change nothing: it cannot lease or command a meter, and does not send \
                its settings. To restrict a host that has joined, revoke its token first: joining again does not \
                replace that token.
                """)

        @Flag(help: "Create an enrolment token, with which any number of hosts can join.") var enrolment = false
        @Flag(help: "Create a token for hosts that may read but change nothing.") var readOnly = false
        @Option(
            name: [.customLong("label"), .customLong("host")], help: "Label of the token, such as the name of its host."
        )
        var label = "unnamed"
        @Option(completion: .zones) var zone = CloudFolder.firstZone
        @Option(name: .shortAndLong, help: "Write the token to a new file (mode 0600) and print nothing.") var output:
            String?
        @OptionGroup var data: DataOptions

        func run() async throws {
            // First open the file: do not create a token that cannot be written.
            let file = try output.map(Self.create)
            let request: ConsoleRequest =
                readOnly
                ? .createReadOnlyToken(zone: zone, isEnrolment: enrolment, label: label)
                : .createToken(zone: zone, isEnrolment: enrolment, label: label)
            do {
                guard case .newToken(let token, let text) = try await ConsoleClient(folder: data.folder).ask(request)
                else { return }
                let made = "\(readOnly ? "read-only token" : "token") \(token.id) for the zone \(token.zone)"
                guard let file, let output else {
                    Terminal.talk("\(made); its text is shown here and never again")
                    return Terminal.line(text)
                }
                try Self.write(text + "\n", to: file, path: output)
                Terminal.talk("\(made); its text is in \(output) and nowhere else")
            } catch {
                if let output { _ = unlink(output) }
                throw error
            }
        }

        private static func create(_ path: String) throws -> FileDescriptor {
            do throws(Errno) {
                return try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            } catch {
                throw CommandFailure(
                    .error, "\(path) cannot be made: \(error)", next: "choose a path where nothing is yet")
            }
        }

        private static func write(_ text: String, to file: FileDescriptor, path: String) throws {
            var text = text
            let isWritten = try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0)) == $0.count }
            guard isWritten, fsync(file.raw) == 0 else {
                throw CommandFailure(
                    .error, "\(path) cannot be written", next: "make room on the disk, and revoke the token")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all tokens, including revoked tokens. Their secret text is not shown.")

        @Option(help: "Zone whose tokens are listed. Default: all zones.", completion: .zones) var zone: String?
        @OptionGroup var json: JSONOption
        @OptionGroup var data: DataOptions

        func run() async throws {
            let request = ConsoleRequest.tokens(zone: zone)
            guard case .tokens(let tokens) = try await ConsoleClient(folder: data.folder).ask(request) else { return }
            try print(tokens.map(TokenLine.init), as: json.isOn, header: TokenLine.header, \.cells)
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a token at once.",
            discussion: "Hosts that joined with an enrolment token have tokens of their own, which stay valid.")

        @Argument(help: "Id of the token, as shown by metercloud token list.") var id: String
        @OptionGroup var data: DataOptions

        func run() async throws {
            _ = try await ConsoleClient(folder: data.folder).ask(.revokeToken(id: id))
            Terminal.talk("token \(id) is revoked")
        }
    }
}
