import ArgumentParser
import Domain
import ESPHomeCore
import Glibc
import HomeAutomation
import LinuxIO
import MeterCodec
import MeterSimulator
import ProgramKit
import SimulatedPort

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Simulate a meter with its real protocol on a pseudo-terminal.",
        discussion: """
            Prints the path of its port and runs until Ctrl-C. While it runs, you can type: fault \
            \(SimulatorFaults.Kind.allCases.map(\.rawValue).joined(separator: "|"))|none [N], power-cycle, unplug, \
            plug. Every Nth answer is faulty; without N, every answer.

            With --stdio, the simulator uses standard input and output instead of a port, until the input ends. This \
            is for a program that simulates the link. With --framed, each message begins with its length in two \
            bytes, big-endian. A message is the data of one write by the meter or its host.

            With --proxy, hosts reach the meter over a simulated ESPHome Bluetooth proxy instead. The model esphome is \
            an ESPHome board with its own sensors. While the simulator runs, you can type: reboot, or fault followed \
            by one of none, \(SimulatedProxy.Fault.allCases.map(\.rawValue).joined(separator: ", ")).

            With --broker, the models tasmota and shelly publish through an MQTT broker, as the device does. While the \
            simulator runs, you can type: unplug, plug.
            """
    )

    @Argument(help: "Model: um24c, um25c, um34c, tc66c, km003c, atorch-usb …", completion: .list(models))
    var model: String
    @Flag(help: "Use a pseudo-terminal. This is the default.")
    var pty = false
    @Flag(help: "Use standard input and output instead of a pseudo-terminal.")
    var stdio = false
    @Option(
        help: "Serve a Bluetooth proxy or ESPHome board at this address, such as 127.0.0.1:6053. Port 0: a free port.")
    var proxy: String?
    @Option(help: "With --proxy: file with the proxy's key in base64. Default: no encryption.")
    var proxyKey: String?
    @Option(help: "Publish the readings through the MQTT broker at this address, such as mqtt://localhost.")
    var broker: String?
    @Option(help: "With --broker: file with user and password, one per line.")
    var credentials: String?
    @Option(help: "With --broker: topic of the device. Default: the model's name.")
    var topic: String?
    @Flag(help: "With --broker: publish as a Shelly of the first generation instead of a later one.")
    var gen1 = false
    @Flag(help: "With --stdio: prefix each message with its length (2 bytes, big-endian).")
    var framed = false
    @Option(
        help:
            "With --stdio: kind of link: serial, hid, bulk, network, ble or spp. Default: the first that the model has."
    )
    var over: String?
    @Option(help: "With --over ble: maximum length of a notification, in bytes.")
    var notification = SimulatorCatalogue.defaultNotificationMax
    @Flag(
        help: """
            With --stdio: accept several commands that arrive together. By default, some models then lose commands \
            or hang, as real meters may do.
            """
    )
    var bunched = false
    @Option(help: "Path at which to create a symbolic link to the port. The path stays the same after restarts.")
    var link: String?
    @Option(help: "Number that distinguishes simulated meters of one model, or simulated proxies of one meter.")
    var seed: UInt64 = 1
    @Option(
        help:
            "Simulate a charging phone whose current halves in this time, such as 20s. Default: 30 min."
    )
    var chargeHalf: TimeArgument?
    @Option(
        help: "Simulate a battery that discharges in this time, such as 2m. Its voltage falls, then no current flows.")
    var dischargeIn: TimeArgument?
    @Option(help: "Interval between new values, such as 500ms. Default: the interval of the model.")
    var refresh: TimeArgument?
    @Option(
        help: "Inject one of the faults listed above from the start, such as silence.",
        completion: .list(SimulatorFaults.Kind.allCases.map(\.rawValue)))
    var fault: String?
    @Option(help: "With --fault: make only every Nth answer faulty.")
    var every = 1

    func validate() throws {
        if every < 1 { throw ValidationError("--every \(every) is not a number of answers: 1 is every one") }
        if pty, stdio { throw ValidationError("--pty and --stdio exclude each other") }
        if framed, !stdio { throw ValidationError("--framed is for --stdio: a pseudo-terminal carries plain bytes") }
        if bunched, !stdio { throw ValidationError("--bunched is for --stdio: a pseudo-terminal delivers at once") }
        if let over, over != LinkAddress.Transport.serial.rawValue, LinkAddress.Transport(rawValue: over) != nil, !stdio
        {
            throw ValidationError("--over \(over) is for --stdio: a pseudo-terminal is a serial port")
        }
        if proxy != nil, pty || stdio || link != nil || over != nil {
            throw ValidationError("--proxy says over which link: it excludes --pty, --stdio, --link and --over")
        }
        if broker != nil, pty || stdio || link != nil || over != nil || proxy != nil || fault != nil {
            throw ValidationError("--broker excludes --pty, --stdio, --link, --over, --proxy and --fault")
        }
        if broker == nil, topic != nil || credentials != nil || gen1 {
            throw ValidationError("--topic, --credentials and --gen1 are for --broker")
        }
        if proxyKey != nil, proxy == nil { throw ValidationError("--proxy-key is for --proxy") }
        if stdio, link != nil { throw ValidationError("--link is for a pseudo-terminal, and --stdio makes none") }
        if chargeHalf != nil, dischargeIn != nil {
            throw ValidationError("--charge-half and --discharge-in exclude each other")
        }
        if notification < 1 { throw ValidationError("--notification \(notification) is not a number of bytes") }
    }

    func run() async throws {
        guard let name = MeterCatalogue.standard.model(named: model) else {
            throw CommandFailure(
                .usage, "\"\(model)\" is not a model",
                next: Self.models.suggestion(for: model, "the models are \(Self.models.joined(separator: ", "))"))
        }
        var meter = try simulator(of: name)
        if let fault { meter.faults = try PortConsole.faults(fault, every: every) }
        if let broker { return try await runSmartPlug(try plug(meter), over: try link(to: broker)) }
        if let proxy { return try await runProxy(meter, at: try Self.address(proxy), key: try key, seed: seed) }
        guard stdio else { return try await runPort(meter, link: link) }
        try runStream(meter, as: framed ? .framed : .raw)
    }

    private func plug(_ meter: any SimulatedMeter) throws -> SimulatedSmartPlug {
        let name = gen1 ? "\(meter.model.rawValue)-gen1" : meter.model.rawValue
        guard let preset = SmartPlugPreset(rawValue: name),
            let plug = SimulatedSmartPlug(meter, as: preset, topic: topic ?? name)
        else {
            let all = SmartPlugPreset.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .usage, "a \(meter.model.displayName) has no messages of its own", next: "--broker is for \(all)")
        }
        return plug
    }

    private func link(to broker: String) throws -> MosquittoLink.Settings {
        do throws(HomeAutomationError) {
            var link = MosquittoLink.Settings(
                address: try BrokerAddress(broker), clientID: "simulated-\(topic ?? model)")
            link.credentialsPath = credentials
            return link
        } catch {
            throw CommandFailure(.usage, error.message, next: error.next)
        }
    }

    private static func address(_ text: String) throws -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw CommandFailure(
                .usage, "\"\(text)\" is not an address with a port", next: "for example --proxy 127.0.0.1:6053")
        }
        return (String(text[..<colon].filter { $0 != "[" && $0 != "]" }), Int(port))
    }

    private var key: [UInt8]? {
        get throws {
            guard let proxyKey else { return nil }
            let text = FileTree.text(at: proxyKey, bytesMax: 1024)?.split(separator: "\n").first
            guard let key = text.flatMap({ NodeKey(base64: String($0)) }) else {
                throw CommandFailure(
                    .usage, "\(proxyKey) has no key of a proxy in its first line",
                    next: "it takes 32 bytes in base64; make one with: openssl rand -base64 32")
            }
            return key.bytes
        }
    }

    private var flow: SimulatorOptions.Flow? {
        chargeHalf.map { .charge(halfLife: $0.duration) } ?? dischargeIn.map { .discharge($0.duration) }
    }

    private func simulator(of model: ModelName) throws -> any SimulatedMeter {
        let transports = MeterCatalogue.standard.transports(of: model)
        let proxied: LinkAddress.Transport = transports.contains(.network) ? .network : .ble
        let transport = try (proxy == nil ? over : proxied.rawValue).map { text in
            guard let transport = LinkAddress.Transport(rawValue: text) else {
                let all = LinkAddress.Transport.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "\"\(text)\" is not a kind of link", next: "--over takes \(all)")
            }
            return transport
        }
        let meter = SimulatorCatalogue.standard.meter(
            model, over: transport, seed: seed, refresh: refresh?.duration, notificationMax: notification, flow: flow,
            isBunched: bunched)
        guard let meter else {
            throw CommandFailure(
                .error, "there is no simulation of a \(model.displayName) over \(transport?.rawValue ?? "any link")",
                next: "--over takes \(transports.map(\.rawValue).joined(separator: ", "))")
        }
        return meter
    }

    static let models = SimulatorCatalogue.standard.models.map(\.rawValue)
}

private func runStream(_ meter: any SimulatedMeter, as form: StreamFraming.Form) throws {
    var stream = SimulatedStream(
        meter: meter, from: FileDescriptor(owning: 0), to: FileDescriptor(owning: 1), as: form)
    do throws(Errno) {
        try stream.run()
    } catch {
        // Normal end: the reader closed the pipe.
        guard error.code != EPIPE else { return }
        throw CommandFailure(.error, "standard input or output failed: \(error)", next: "check what plays the link")
    }
}

func runPort(_ meter: any SimulatedMeter, link: String?) async throws {
    let loop = try IOLoop(name: "simulator")
    loop.start()
    defer { loop.shutdown() }
    let port = SimulatedPort(meter: meter, loop: loop, link: link)
    do throws(Errno) {
        try await port.start()
    } catch {
        throw portFailure(error, link: link)
    }
    let ownPath = await port.path
    let path = link ?? ownPath ?? ""
    Terminal.line(path)
    if MeterCatalogue.standard.driver(for: meter.model, over: .serial) != nil {
        Terminal.talk("connect it: meterctl connect \(path) --model \(meter.model.rawValue)")
    } else {
        Terminal.talk("meterd cannot read a \(meter.model.displayName) over a serial port yet")
    }
    await untilStopped { try await PortConsole(port: port).obey($0) }
    await port.stop()
}

private func portFailure(_ error: Errno, link: String?) -> CommandFailure {
    guard let link else {
        return CommandFailure(.error, "no pseudo-terminal: \(error)", next: "is /dev/pts mounted and writable?")
    }
    return switch error.code {
    case ENOENT, ENOTDIR:
        CommandFailure(.error, "there is no folder for \(link)", next: "make it, or choose another --link")
    case EEXIST:
        CommandFailure(
            .error, "\(link) is there already and is not a link, so it is left alone",
            next: "remove it, or choose another --link")
    case EACCES, EPERM, EROFS:
        CommandFailure(.error, "\(link) cannot be made: \(error)", next: "choose another --link, such as in /tmp")
    default:
        CommandFailure(
            .error, "no pseudo-terminal with a link at \(link): \(error)", next: "try it without --link")
    }
}
