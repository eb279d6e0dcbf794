import ArgumentParser
import Domain
import FoundationEssentials
import GatewayAPI
import Glibc
import ProgramKit

struct DaemonOptions: ParsableArguments {
    @Option(
        help: "Socket of meterd. Default: $METERD_SOCKET, then your own meterd's socket, then the system meterd's.",
        completion: .file())
    var socket: String?

    var client: ControlClient { Self.client(at: socket) }

    static func client(at socket: String?) -> ControlClient {
        let environment = ProcessInfo.processInfo.environment
        let named = environment["METERD_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        if let path = socket ?? named { return ControlClient(socketPath: path) }
        let own = SocketPath.user(runtimeDirectory: environment["XDG_RUNTIME_DIR"], userID: geteuid())
        let hasOwn = geteuid() != 0 && access(own, F_OK) == 0
        let hasSystem = access(SocketPath.system, F_OK) == 0
        return ControlClient(socketPath: hasOwn || (geteuid() != 0 && !hasSystem) ? own : SocketPath.system)
    }
}

/// A duration: `500ms`, `10s`, `1m`, `1h`.
struct TimeArgument: ExpressibleByArgument {
    var duration: Duration

    init?(argument: String) {
        guard let duration = Duration(shortText: argument) else { return nil }
        self.duration = duration
    }

    init(_ duration: Duration) { self.duration = duration }

    var defaultValueDescription: String { duration.shortText }
}

struct MomentArgument: ExpressibleByArgument, Hashable {
    private let text: String

    /// Parses a time, or a duration before now (`3m` or `3m ago`).
    init?(argument: String) {
        text = argument.hasSuffix(" ago") ? String(argument.dropLast(4)) : argument
        guard Duration(shortText: text) != nil || TimeText.utc.moment(argument) != nil else { return nil }
    }

    func time(before now: WallTime, _ times: TimeText) -> WallTime {
        times.moment(text) ?? now + (.zero - (Duration(shortText: text) ?? .zero))
    }

    /// Query item that limits the response to times after this moment.
    func query(_ times: TimeText) -> String {
        if let moment = times.moment(text) { return "since=\(moment.description.percentEncoded)" }
        return "within_ms=\(Duration(shortText: text)?.milliseconds ?? 0)"
    }
}

struct TimeOptions: ParsableArguments {
    @Flag(help: "Print times in UTC instead of this machine's time zone. JSON and CSV are always in UTC.")
    var utc = false

    var text: TimeText { utc ? .utc : .local }
}

func meterPath(_ meter: String, _ rest: String = "") throws -> String {
    guard !meter.isEmpty else {
        throw CommandFailure(.usage, "\"\" names no meter", next: "meterctl status lists the meters")
    }
    return "/v1/meters/\(meter.percentEncoded)\(rest)"
}
