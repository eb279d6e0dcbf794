import ArgumentParser
import Domain
import GatewayAPI
import ProgramKit

struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect a meter, now and after reboots.",
        discussion:
            "Returns when data arrives. METER may also be the path of a serial port, with --model. If another "
            + "host has the meter and this host cannot find it, use --takeover or --queue."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The meter, or a device path such as /dev/ttyUSB0.", completion: .meters)
    var meter: String
    @Option(help: "For a device path: model of the meter at this port.", completion: .models)
    var model: String?
    @Option(help: "For a device path: the meter's own address or id, if known.")
    var id: String?
    @Option(
        help:
            "Kind of link to prefer: serial, hid, bulk, network, ble or spp. The value any removes the preference.",
        completion: .links)
    var over: String?
    @Flag(help: "Return without waiting for data.")
    var detach = false
    @Option(help: "Maximum time to wait for the queue and for data together. Default: the --queue time plus 30s.")
    var timeout: TimeArgument?
    @Flag(help: "Take the meter from the host that has it.")
    var takeover = false
    @Option(help: "Wait in the queue for this time if another host has the meter: --queue 3m. Without a time: 60s.")
    var queue: TimeArgument?
    @Flag(
        help: """
            Connect even if this host has never detected the meter. With --takeover: repeat the take-over even if this \
            host could not find the meter after a recent take-over.
            """)
    var yes = false
    @Flag(help: "Connect without a lease, even if another host has the meter.")
    var noLease = false

    func validate() throws {
        if noLease, takeover || queue != nil {
            throw ValidationError("--no-lease asks nobody, so it takes neither --takeover nor --queue")
        }
        if detach, queue != nil { throw ValidationError("--detach and --queue exclude each other") }
    }

    func run() async throws {
        let status: MeterStatus = try await daemon.client.call(
            .post, meterPath(meter, "/connect"), body: request,
            patience: patience)
        Terminal.talk("\(meter): \(status.state)")
    }

    /// Timeout of the request: longer than meterd's own, so that meterd answers first, with the reason.
    var patience: Duration {
        if let timeout { return timeout.duration + .seconds(1) }
        return .milliseconds((request.wait_ms ?? 0) + (request.queue_ms ?? 0) + 10_000)
    }

    var request: ConnectRequest {
        let longest = timeout?.duration.milliseconds
        var request = ConnectRequest(wait_ms: detach ? nil : longest ?? 30_000, model: model, id: id)
        request.timeout_ms = detach ? nil : longest
        request.takeover = takeover ? true : nil
        request.queue_ms = queue?.duration.milliseconds
        request.no_lease = noLease ? true : nil
        request.over = over?.lowercased()
        request.yes = yes ? true : nil
        return request
    }

    /// Turns `--queue 3s` into `--queue=3s`, and `--queue` without a duration into `--queue=60s`. The library lacks
    /// options with an optional value, so `--queue` would use the meter's name as its value.
    ///
    /// In `--queue 25` without a meter, 25 is the beginning of a meter's id.
    static func spelledOut(_ arguments: [String]) async -> [String] {
        guard arguments.first == configuration.commandName ?? "connect" else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let lone = arguments[..<end].map { $0 == "--queue" ? "--queue=60s" : $0 } + arguments[end...]
        guard let queue = arguments[..<end].firstIndex(of: "--queue"), queue + 1 < end,
            Duration(shortText: arguments[queue + 1]) != nil
        else { return lone }
        var timed = lone
        timed.replaceSubrange(queue...(queue + 1), with: ["--queue=\(arguments[queue + 1])"])
        if await isComplete(timed) { return timed }
        return await isComplete(lone) ? lone : timed
    }

    private static func isComplete(_ arguments: [String]) async -> Bool {
        // Ignore the error here; the real parse reports it.
        (try? await asyncParse(Array(arguments.dropFirst()))) != nil
    }
}

struct Disconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Disconnect a meter until the next connect.")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String

    func run() async throws {
        let status: MeterStatus = try await daemon.client.call(.post, meterPath(meter, "/disconnect"))
        Terminal.talk("\(meter): \(status.state)")
    }
}
