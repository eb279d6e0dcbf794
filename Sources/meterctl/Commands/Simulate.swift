import ArgumentParser
import LinuxIO
import MeterModel
import MeterSimulator
import SimulatedPort
import UnixSignals

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A meter that speaks the real protocol on a pseudo-terminal.",
        discussion: """
            Prints the path of its port and runs until Ctrl-C. What can be typed meanwhile: fault \
            \(SimulatorFaults.Kind.allCases.map(\.rawValue).joined(separator: "|"))|none [N], power-cycle, unplug, plug.
            """
    )

    @Argument(help: "um24c, um25c, um34c, tc66c, km003c, atorch-usb …")
    var model: String
    @Flag(help: "On a pseudo-terminal: the default, and for now the only place.")
    var pty = false
    @Option(help: "A symbolic link to the port, so that its path stays the same over restarts.")
    var link: String?
    @Option(help: "Makes two meters of one model differ.")
    var seed: UInt64 = 1
    @Option(help: "How often the values renew. Default: as the model does.")
    var refresh: TimeArgument?
    @Option(help: "Inject a fault from the start.")
    var fault: String?
    @Option(help: "Every how many answers the fault comes.")
    var every = 1

    func run() async throws {
        guard let name = ModelName(model) else {
            throw CommandFailure(
                .usage, "\"\(model)\" is no model",
                next: "the models are \(ModelName.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard var meter = SimulatorCatalogue.meter(name, seed: seed, refresh: refresh?.duration) else {
            throw CommandFailure(.error, "there is no simulator of a \(name.displayName) yet", next: "try um25c")
        }
        if let fault { meter.faults = try PortConsole.faults(fault, every: every) }
        try await runPort(meter, link: link)
    }
}

/// Runs a meter behind a pseudo-terminal until SIGINT or SIGTERM; shared by `simulate` and `replay`.
func runPort(_ meter: any SimulatedMeter, link: String?) async throws {
    let loop = try IOLoop(name: "simulator")
    loop.start()
    defer { loop.shutdown() }
    let port = SimulatedPort(meter: meter, loop: loop, link: link)
    do {
        try await port.start()
    } catch {
        throw CommandFailure(.error, "no pseudo-terminal: \(error)", next: "is \(link ?? "/dev/pts") writable?")
    }
    let ownPath = await port.path
    let path = link ?? ownPath ?? ""
    Terminal.line(path)
    Terminal.talk("connect it: meterctl connect \(path) --model \(meter.model.rawValue)")
    let console = Task { await PortConsole(port: port).run() }
    for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break }
    console.cancel()
    await port.stop()
}
