import ArgumentParser
import GatewayAPI
import MeterModel

struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Want this meter connected, now and after reboots.",
        discussion: "Returns when data comes. METER may also be the path of a serial port, with --model."
    )

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The meter, or a device path such as /dev/ttyUSB0.")
    var meter: String
    @Option(help: "For a device path: the model behind it.")
    var model: String?
    @Option(help: "For a device path: the meter's own address or id, where you know it.")
    var id: String?
    @Flag(help: "Return at once.")
    var detach = false
    @Option(help: "How long to wait for data.")
    var timeout = TimeArgument(.seconds(30))

    func run() async throws {
        let wait = detach ? nil : timeout.duration.milliseconds
        let request = ConnectRequest(wait_ms: wait, model: model, id: id)
        let status: MeterStatus = try await daemon.client.call(
            .post, meterPath(meter, "/connect"), body: request,
            patience: .milliseconds((wait ?? 0) + 10_000))
        Terminal.talk("\(status.name ?? status.id): \(status.state)")
    }
}

struct Disconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let this meter go; it is not reconnected until the next connect.")

    @OptionGroup var daemon: DaemonOptions
    @Argument var meter: String

    func run() async throws {
        let status: MeterStatus = try await daemon.client.call(.post, meterPath(meter, "/disconnect"))
        Terminal.talk("\(status.name ?? status.id): \(status.state)")
    }
}
