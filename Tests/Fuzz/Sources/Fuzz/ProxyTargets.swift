import BluetoothCore
import Domain
import ESPHomeCore
import GatewayAPI

extension FuzzTarget {
    private static let ones = [UInt8](repeating: 1, count: 32)

    /// What claims to be a Bluetooth proxy: any bytes end in a state with words, and what it has the host keep is bounded.
    static let esphome = FuzzTarget(
        name: "esphome", run: runESPHome,
        seeds: {
            let info = DeviceInfoResponse.made {
                ($0.name, $0.mac, $0.version, $0.features) = ("x", "02:00:00:00:00:01", "2026.6.5", 255)
            }
            let slots = ConnectionsFree.made { ($0.free, $0.limit) = (3, 3) }
            let up = DeviceConnection.made { ($0.address, $0.isConnected, $0.mtu) = (1, true, 23) }
            let first = [HelloResponse.made { _ in }.frame, info.frame, ScannerState.made { _ in }.frame, slots.frame]
            let frames: [APIFrame] = first + [up.frame, ServicesDone.made { $0.address = 1 }.frame]
            return [
                [0] + first.flatMap { FrameWriter.plaintext($0) }, [0] + frames.flatMap { FrameWriter.plaintext($0) },
            ]
                + [[1] + FrameWriter.sealed([1, 0x78, 0]) + FrameWriter.sealed([0] + [UInt8](repeating: 1, count: 48))]
        })

    /// What claims to be a board with sensors: any bytes end in lines that are readings, or in words.
    static let esphomeMeter = FuzzTarget(
        name: "esphome-meter", run: runESPHomeMeter,
        seeds: {
            let info = DeviceInfoResponse.made { ($0.name, $0.mac) = ("x", "02:00:00:00:00:01") }
            let sensors = [("voltage", "V"), ("current", "mA"), ("power", "VA")].enumerated().map { index, one in
                SensorInfo.made {
                    ($0.key, $0.name) = (UInt32(index), "Bus \(one.0)")
                    ($0.deviceClass, $0.unit) = one
                }
            }
            let states = (0..<3).map { key in
                SensorState.made { ($0.key, $0.state, $0.isMissing) = (key, 5.02, key == 2) }.frame
            }
            let listed =
                [HelloResponse.made { _ in }.frame, info.frame] + sensors.map(\.frame) + [EmptyMessage.listEntitiesDone]
            return [listed, listed + states + states].map { [0] + $0.flatMap { FrameWriter.plaintext($0) } }
        })

    private static func runESPHomeMeter(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        let node = NodeSettings(host: "x", table: "[[esphome.meter]]")
        let security: APISecurity =
            mode & 1 == 0 ? .plaintext : .key(ones, ephemeral: [UInt8](repeating: 2, count: 32))
        var now = MonotonicTime.origin
        var machine = NodeMeter(
            node, maxAge: .seconds(2), security, at: now)
        var actions = machine.begin(at: now)
        let pieces = Int(mode >> 1) + 1
        var rest = input.dropFirst()
        while !rest.isEmpty {
            actions += machine.received(Array(rest.prefix(pieces)), at: now)
            rest = rest.dropFirst(pieces)
            now = now + .seconds(1)
            actions += machine.woke(at: now)
            for action in actions {
                switch action {
                case .line(let line):
                    promise(line.count < 512 && line.last == UInt8(ascii: "\n"), "a line is short, and ends")
                case .close(let fault):
                    promise(!fault.words(of: node).isEmpty, "a fault has words")
                    return
                case .send, .opened: break
                }
            }
            actions = []
            promise(machine.remark?.isEmpty != true, "a remark has words")
        }
    }

    /// What strangers announce in the network: names that can stand in meterd.toml, and texts of a bounded length.
    static let announced = FuzzTarget(
        name: "announced", run: runAnnounced,
        seeds: {
            let strings = [
                "mac=a0b765001122", "friendly_name=Garage", "project_name=esphome.bluetooth-proxy", "version",
            ]
            let text = strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            return [[6] + Array("garagegarage.local".utf8) + text, [0], [255]]
        })

    private static func runAnnounced(_ input: [UInt8]) {
        guard let length = input.first else { return }
        let name = input.dropFirst().prefix(Int(length))
        let host = input.dropFirst(1 + name.count).prefix(12)
        let text = Array(input.dropFirst(1 + name.count + host.count))
        let service = FoundService(
            name: String(decoding: name, as: UTF8.self), host: String(decoding: host, as: UTF8.self),
            port: Int(length) * 300, text: text)
        guard let node = ScanNode(service) else { return }
        promise((1...0xFFFF).contains(node.port), "a port can be connected to")
        promise(
            (node.name + node.host).utf8.allSatisfy { $0 > 0x2C && $0 < 0x7B && $0 != 0x5C }, "a name needs no quotes")
        promise((node.friendly_name ?? "").count <= 120 && (node.version ?? "").count <= 120, "a text is bounded")
    }

    private static func runESPHome(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        var machine = ProxyMachine(NodeSettings(host: "x"))
        var now = MonotonicTime.origin
        _ = machine.begin()
        let security: APISecurity =
            mode & 1 == 0 ? .plaintext : .key(ones, ephemeral: [UInt8](repeating: 2, count: 32))
        _ = machine.opened(security, at: now)
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
