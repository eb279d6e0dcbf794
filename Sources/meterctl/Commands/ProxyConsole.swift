import Domain
import LinuxIO
import MeterSimulator
import ProgramKit
import SimulatedPort

/// Serves a simulated ESPHome node until SIGINT or SIGTERM: a Bluetooth proxy with a meter in range, or a node that is
/// a meter.
///
/// - Parameters:
///   - address: host and port; port 0 for any free port.
///   - key: encryption key; nil for plain text.
///   - seed: changes the node's own addresses, so that two proxies differ. Both have the same meter in range.
func runProxy(
    _ meter: any SimulatedMeter, at address: (host: String, port: Int), key: [UInt8]?, seed: UInt64
) async throws {
    let loop = try IOLoop(name: "simulator")
    loop.start()
    defer { loop.shutdown() }
    var options = SimulatedProxy.Options()
    options.key = key
    options.mac = MACAddress(bits: options.mac.bits &+ (seed &- 1) << 8)
    options.bluetoothMAC = MACAddress(bits: options.bluetoothMAC.bits &+ (seed &- 1) << 8)
    // A locally administered address, which no real meter has.
    let radio = SimulatedRadioMeter(meter, address: MACAddress(bits: 0x02_00_00_00_E5_25))
    let sensors = SimulatedSensors(meter)
    if sensors != nil { options.features = 0 }
    let port = SimulatedProxyPort(
        SimulatedProxy(options, meters: sensors == nil ? [radio] : [], sensors: sensors), loop: loop)
    let served: Int
    do {
        served = try await port.serve(at: address.host, port: address.port)
    } catch {
        throw CommandFailure(
            .error, "\(address.host):\(address.port) cannot be served: \(error)",
            next: "choose another, such as --proxy 127.0.0.1:0 for any port")
    }
    Terminal.line("\(address.host):\(served)")
    let what = "a Bluetooth proxy that hears \(radio.address), a \(meter.model.displayName)"
    Terminal.talk("\(sensors == nil ? what : "a board that measures by itself"); in meterd.toml:")
    Terminal.talk(sensors == nil ? "[[bluetooth.proxy]]" : "[[esphome.meter]]")
    Terminal.talk("host = \"\(address.host):\(served)\"")
    if sensors != nil { Terminal.talk("mac = \"\(options.mac)\"") }
    Terminal.talk(key == nil ? "plaintext = true" : "key-file = the file of --proxy-key")
    await untilStopped { line in
        switch try ProxyOrder(line) {
        case .faults(let faults): await port.setFaults(faults)
        case .reboot: await port.reboot()
        case nil: break
        }
    }
    await port.stop()
}

enum ProxyOrder: Hashable {
    case faults(Swift.Set<SimulatedProxy.Fault>)
    case reboot

    /// - Returns: nil for an empty line.
    init?(_ line: String) throws {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        switch (words.first, words.count) {
        case (nil, _): return nil
        case ("reboot", 1): self = .reboot
        case ("fault", 2) where words[1] == "none": self = .faults([])
        case ("fault", 2):
            guard let fault = SimulatedProxy.Fault(rawValue: words[1]) else {
                let all = SimulatedProxy.Fault.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "\"\(words[1])\" is not a fault", next: "the faults are \(all), none")
            }
            self = .faults([fault])
        default:
            throw CommandFailure(.usage, "\"\(line)\" is not a command here", next: "see meterctl simulate --help")
        }
    }
}
