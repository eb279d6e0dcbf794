import AsyncHTTPClient
import Cloud
import CloudAPI
import CloudHosting
import CloudServer
import CloudStore
import Domain
import FoundationEssentials
import Glibc
import LinuxIO
import Logging
import NIOCore
import NIOHTTP1
import ProgramKit

/// Sends commands to the server if one runs on this folder; otherwise opens the store itself.
struct ConsoleClient {
    let folder: CloudFolder

    func ask(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard access(folder.path, R_OK | W_OK | X_OK) == 0 else { throw unusable }
        do {
            switch SocketProbe.look(at: folder.consoleSocketPath) {
            case .served: return try await askServer(request)
            case .free, .noSocket, .tooLong: return try await answerHere(request)
            }
        } catch let failure as CloudFailure {
            throw CommandFailure(failure.content)
        }
    }

    private func answerHere(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        try folder.checkStoreIsHere()
        let cloud = try open()
        defer { cloud.close() }
        return try await cloud.console.answer(request)
    }

    private func open() throws(CommandFailure) -> HostedCloud {
        do throws(CloudStoreError) {
            return try HostedCloud(
                folder: folder, logger: Logger(label: "metercloud") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            throw CommandFailure(error)
        }
    }

    private func askServer(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        try await HTTPClient.withHTTPClient(configuration: HTTPClient.Configuration()) { http in
            var call = HTTPClientRequest(
                url: "http+unix://\(folder.consoleSocketPath.percentEncoded)\(ConsoleApplication.path)")
            call.method = .POST
            call.headers.add(name: "content-type", value: "application/json")
            call.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(request)))
            // A backup of a large store on a slow SD card takes long.
            let response = try await http.execute(call, timeout: .minutes(60))
            let bytes = Data(try await response.body.collect(upTo: 1 << 30).readableBytesView)
            guard response.status == .ok else {
                throw CommandFailure(try JSONDecoder().decode(CloudErrorBody.self, from: bytes).error)
            }
            return try JSONDecoder().decode(ConsoleAnswer.self, from: bytes)
        }
    }

    private var unusable: CommandFailure {
        let path = folder.path
        switch errno {
        case ENOENT, ENOTDIR:
            return CommandFailure(
                .error, "there is no cloud in \(path)",
                next: "start it with metercloud serve, or name its folder with --data")
        case let code:
            return CommandFailure(
                .noPermission, "\(path) cannot be used: \(Errno(code))",
                next: "run this as the user that runs metercloud serve, perhaps with sudo")
        }
    }
}

extension CommandFailure {
    /// Replaces the advice about a missing zone or access token, which is meant for hosts.
    init(_ content: CloudErrorBody.Content) {
        let parts = content.message.split(separator: "; ", maxSplits: 1).map { String($0) }
        let advice = parts.count == 2 ? parts[1] : nil
        let next =
            switch content.code {
            case .zoneNotFound: "metercloud zone list shows the zones, metercloud zone create makes one"
            case .notFound: "the list command of the same kind shows those there are"
            default: advice ?? "metercloud --help shows the commands"
            }
        self.init(content.code == .badRequest ? .usage : .error, parts.first ?? content.message, next: next)
    }
}
