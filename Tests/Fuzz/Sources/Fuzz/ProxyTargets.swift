import BluetoothCore
import Domain
import ESPHomeCore

extension FuzzTarget {
    /// What claims to be a Bluetooth proxy: any bytes end in a state with words, and what it has the host keep is bounded.
    static let esphome = FuzzTarget(
        name: "esphome", run: runESPHome,
        seeds: {
            let info = DeviceInfoResponse.made {
                ($0.name, $0.mac, $0.version, $0.features) = ("x", "02:00:00:00:00:01", "2026.6.5", 255)
            }
            let slots = ConnectionsFree.made { ($0.free, $0.limit) = (3, 3) }
            let up = DeviceConnection.made { ($0.address, $0.isConnected, $0.mtu) = (1, true, 23) }
            let first = [HelloResponse().frame, info.frame, ScannerState().frame, slots.frame]
            let frames: [APIFrame] = first + [up.frame, ServicesDone.made { $0.address = 1 }.frame]
            return [
                [0] + first.flatMap { FrameWriter.plaintext($0) }, [0] + frames.flatMap { FrameWriter.plaintext($0) },
            ]
                + [[1] + FrameWriter.sealed([1, 0x78, 0]) + FrameWriter.sealed([0] + [UInt8](repeating: 1, count: 48))]
        })

    private static func runESPHome(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        var machine = ProxyMachine(ProxyNode(display: "x"))
        var now = MonotonicTime.origin
        _ = machine.begin()
        let security: APIWire.Security = mode & 1 == 0 ? .plaintext : .key([UInt8](repeating: 1, count: 32))
        _ = machine.opened(security, ephemeral: [UInt8](repeating: 2, count: 32), at: now)
        let address = MACAddress(bits: 1)
        let pieces = Int(mode >> 1) + 1
        var rest = input.dropFirst()
        while !rest.isEmpty {
            for action in machine.received(Array(rest.prefix(pieces)), at: now) {
                if case .link(_, .up(let database, let mtu)) = action {
                    promise(database.services.count <= 512 && mtu >= 23, "what a device offers is bounded")
                }
            }
            rest = rest.dropFirst(pieces)
            if machine.isRunning, !machine.isLinked(address) {
                _ = machine.connect(RadioLink(address: address, isRandom: false, adapter: address), at: now)
            }
            now = now + .seconds(1)
            _ = machine.woke(at: now)
            promise(machine.trouble?.isEmpty != true, "a trouble has words")
        }
    }
}
