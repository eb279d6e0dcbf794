import Domain
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import SimulatedPort

/// Four simulated meters behind pseudo-terminals, for `--demo`.
///
/// A second host in the same cloud shows which host holds a meter, and can take it over.
struct Demo: Sendable {
    private let ports: [SimulatedPort]
    let declared: [DeclaredPort]

    static let firstHostName = "demo-bench"
    static let secondHostName = "demo-attic"

    static func secondHost(beside first: Configuration) -> Configuration {
        var second = first
        second.hostName = secondHostName
        second.stateDirectory += "/attic"
        second.socketPath =
            second.socketPath.hasSuffix(".sock")
            ? "\(second.socketPath.dropLast(5))-attic.sock" : "\(second.socketPath)-attic"
        second.ports = []
        second.bluetooth.proxies = []
        second.web.serves = false
        return second
    }

    static func start(on loop: IOLoop) async throws -> Demo {
        var ports: [SimulatedPort] = []
        var declared: [DeclaredPort] = []
        for (index, entry) in meters.enumerated() {
            guard let meter = SimulatorCatalogue.standard.meter(entry.model, seed: UInt64(index + 1)) else { continue }
            let port = SimulatedPort(meter: meter, loop: loop)
            try await port.start()
            guard let path = await port.path else { continue }
            ports.append(port)
            declared.append(DeclaredPort(.serial(path: path), model: entry.model, id: entry.id, name: entry.name))
        }
        return Demo(ports: ports, declared: declared)
    }

    func stop() async {
        for port in ports { await port.stop() }
    }

    /// Meters of the demo. Their addresses are locally administered, so no real meter has them.
    private static let meters: [(model: ModelName, id: MeterID, name: String)] = [
        (.um25c, .mac(MACAddress(bits: 0x02_00_00_00_25_0C)), "demo UM25C"),
        (.um34c, .mac(MACAddress(bits: 0x02_00_00_00_34_0C)), "demo UM34C"),
        (.tc66c, .mac(MACAddress(bits: 0x02_00_00_00_66_0C)), "demo TC66C"),
        (.km003c, .usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C"), "demo KM003C"),
    ]
}
