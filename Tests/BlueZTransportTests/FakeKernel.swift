import BluetoothCore
import Domain
import Glibc
import LinuxIO

/// The kernel's side of a management channel, over a pair of sockets, as a script says.
///
/// Only used on the loop, but for `socket` and what says otherwise.
final class FakeKernel: @unchecked Sendable {
    // Unchecked: loop only.

    /// How an adapter behaves.
    struct Adapter: Sendable {
        var info: ControllerInfo
        var manner = Manner.good
        /// Told at the start of each discovery.
        var devices: [(RadioAddress, rssi: Int8, data: [UInt8])] = []
        var discovering: DiscoveryKinds?

        init(_ address: UInt64, manner: Manner = .good) {
            info = ControllerInfo(
                address: MACAddress(bits: address), supported: [.powered, .bondable, .classic, .lowEnergy],
                current: [.powered, .bondable, .classic, .lowEnergy])
            self.manner = manner
        }
    }

    enum Manner: Sendable {
        case good
        /// Another program's discovery runs for ever.
        case busy
        /// Its user may only look.
        case unprivileged
        /// It answers nothing.
        case mute
        /// Begins discoveries and never says so.
        case slow
        /// Somebody else answered it before.
        case served
    }

    struct Received: Hashable, Sendable {
        var index: UInt16
        var opcode: UInt16
        var parameters: [UInt8]
    }

    private let loop: IOLoop
    private let own: FileDescriptor
    var adapters: [UInt16: Adapter] = [:]
    private(set) var received: [Received] = []
    private var waiters: [(condition: ([Received]) -> Bool, wake: CheckedContinuation<Void, Never>)] = []

    /// - Returns: the kernel's side, and the socket for the program's.
    static func make(on loop: IOLoop) throws -> (FakeKernel, FileDescriptor) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try Errno.check { socketpair(AF_UNIX, kind, 0, &pair) }
        return (FakeKernel(loop: loop, own: FileDescriptor(owning: pair[0])), FileDescriptor(owning: pair[1]))
    }

    private init(loop: IOLoop, own: FileDescriptor) {
        self.loop = loop
        self.own = own
    }

    func begin() throws {
        try loop.register(own, .readable) { [weak self] _ in self?.read() }
    }

    func end() {
        loop.unregister(own)
        own.close()
        for waiter in waiters { waiter.wake.resume() }
        waiters = []
    }

    /// Waits until the program sent what is looked for. From anywhere.
    func receives(_ condition: @escaping @Sendable ([Received]) -> Bool) async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                if condition(received) {
                    continuation.resume()
                } else {
                    waiters.append((condition, continuation))
                }
            }
        }
    }

    // MARK: What the kernel tells

    func tell(_ code: UInt16, _ index: UInt16, _ parameters: [UInt8] = []) {
        let bytes = little(code, 2) + little(index, 2) + little(UInt16(parameters.count), 2) + parameters
        send(bytes)
    }

    func send(_ bytes: [UInt8]) {
        // A test that ended takes nothing any more.
        _ = try? bytes.withUnsafeBytes { try own.write($0) }
    }

    func plugIn(_ index: UInt16, _ adapter: Adapter) {
        adapters[index] = adapter
        tell(0x0004, index)
    }

    func unplug(_ index: UInt16) {
        adapters[index] = nil
        tell(0x0005, index)
    }

    func hear(_ device: RadioAddress, rssi: Int8, _ data: [UInt8], flags: UInt32 = 0, on index: UInt16 = 0) {
        tell(
            0x0012, index,
            bytes(of: device) + [UInt8(bitPattern: rssi)] + little(flags, 4) + little(UInt16(data.count), 2) + data)
    }

    func endDiscovery(on index: UInt16 = 0) {
        guard let kinds = adapters[index]?.discovering else { return }
        adapters[index]?.discovering = nil
        tell(0x0013, index, [kinds.rawValue, 0])
    }

    /// Another program has switched settings.
    func change(_ settings: ControllerSettings, on index: UInt16 = 0) {
        adapters[index]?.info.current = settings
        tell(0x0006, index, little(settings.rawValue, 4))
    }

    func failAuthentication(_ device: RadioAddress, on index: UInt16 = 0) {
        tell(0x0011, index, bytes(of: device) + [ManagementStatus.authenticationFailed.rawValue])
    }

    func askForPIN(_ device: RadioAddress, on index: UInt16 = 0) { tell(0x000E, index, bytes(of: device) + [0]) }

    // MARK: What the program asks

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1024)
        while let count = try? buffer.withUnsafeMutableBytes({ try own.read(into: $0) }) {
            guard count >= 6 else {
                if count == 0 { end() }
                return
            }
            let word = { UInt16(buffer[$0]) | UInt16(buffer[$0 + 1]) << 8 }
            let command = Received(index: word(2), opcode: word(0), parameters: Array(buffer[6..<count]))
            received.append(command)
            answer(command)
            let ready = waiters.filter { $0.condition(received) }
            waiters.removeAll { $0.condition(received) }
            for waiter in ready { waiter.wake.resume() }
        }
    }

    private func answer(_ command: Received) {
        if command.opcode == 0x0003 {
            let indexes = adapters.keys.sorted()
            return complete(command, .success, little(UInt16(indexes.count), 2) + indexes.flatMap { little($0, 2) })
        }
        guard let adapter = adapters[command.index] else { return complete(command, .invalidIndex) }
        guard adapter.manner != .mute else { return }
        switch command.opcode {
        case 0x0004: complete(command, .success, bytes(of: adapter.info))
        case 0x0016 where adapter.manner == .served:
            complete(command, .busy, Array(command.parameters.prefix(7)))
        case 0x0023 where adapter.manner == .slow: break
        case 0x0005: setPowered(command)
        case 0x0023: startDiscovery(command, adapter)
        case 0x0024:
            guard adapter.discovering != nil else { return complete(command, .rejected) }
            complete(command, .success, command.parameters)
            endDiscovery(on: command.index)
        default: complete(command, .success, Array(command.parameters.prefix(7)))
        }
    }

    private func setPowered(_ command: Received) {
        let isOn = command.parameters == [1]
        if isOn {
            adapters[command.index]?.info.current.insert(.powered)
        } else {
            adapters[command.index]?.info.current.remove(.powered)
            endDiscovery(on: command.index)
        }
        complete(command, .success, little(adapters[command.index]?.info.current.rawValue ?? 0, 4))
    }

    private func startDiscovery(_ command: Received, _ adapter: Adapter) {
        switch adapter.manner {
        case .unprivileged: return complete(command, .permissionDenied)
        case .busy: complete(command, .busy, command.parameters)
        case .good, .mute, .slow, .served:
            guard adapter.info.current.contains(.powered) else { return complete(command, .notPowered) }
            adapters[command.index]?.discovering = DiscoveryKinds(rawValue: command.parameters.first ?? 0)
            complete(command, .success, command.parameters)
            tell(0x0013, command.index, command.parameters + [1])
        }
        for (device, rssi, data) in adapter.devices { hear(device, rssi: rssi, data, on: command.index) }
    }

    private func complete(_ command: Received, _ status: ManagementStatus, _ parameters: [UInt8] = []) {
        tell(0x0001, command.index, little(command.opcode, 2) + [status.rawValue] + parameters)
    }

    private func bytes(of device: RadioAddress) -> [UInt8] { little(device.address.bits, 6) + [device.kind.rawValue] }

    private func bytes(of info: ControllerInfo) -> [UInt8] {
        little(info.address.bits, 6) + [info.version] + little(info.manufacturer, 2)
            + little(info.supported.rawValue, 4) + little(info.current.rawValue, 4)
            + [UInt8](repeating: 0, count: 3 + 249 + 11)
    }

    private func little(_ number: some FixedWidthInteger, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
