import BluetoothCore
import Domain
import Glibc
import LinuxIO
import Logging
import SystemBus

/// Pairing agent of this program at bluetoothd (BlueZ doc/agent-api.txt). Use only on the event loop.
///
/// No agent is needed without a system bus, libsystemd or bluetoothd: the kernel then requests the PIN directly from
/// this program.
final class PairingAgent: @unchecked Sendable {
    struct Listener: Sendable {
        var pinGiven: @Sendable (AgentDevice) -> Void
        var leaves: @Sendable () -> Void
        var changed: @Sendable () -> Void
    }

    private let loop: IOLoop
    private let logger: Logger
    private let address: String?
    private let pin: String
    private let listener: Listener
    private var machine = AgentMachine() { didSet { listener.changed() } }
    private var bus: SystemBus? { didSet { listener.changed() } }
    private var owner = ""
    private var waiting: [AgentDevice: Waiting] = [:]
    private var reopening: LoopTimer?
    private var problem: Errno? { didSet { listener.changed() } }

    private struct Waiting {
        var proceed: @Sendable () -> Void
        var timer: LoopTimer
    }

    private static let reopenInterval: Duration = .seconds(30)
    /// Maximum wait of a link attempt for the agent's registration, which normally takes milliseconds.
    private static let patience: Duration = .seconds(5)
    /// Capability that selects Just Works for a meter with Secure Simple Pairing. bluetoothd requests a PIN in any case
    /// (src/adapter.c, `pin_code_request_callback`).
    private static let capability = BusValue.text("NoInputNoOutput")
    private static let path = BusValue.path("/meter_gateway/agent")
    private static let rejected = BusError("org.bluez.Error.Rejected", "no meter of this program's")

    init(loop: IOLoop, bus address: String?, pin: String, logger: Logger, listener: Listener) {
        self.loop = loop
        self.address = address
        self.pin = pin
        self.logger = logger
        self.listener = listener
    }

    // MARK: Life

    func open() {
        guard bus == nil else { return }
        if let reopening { loop.cancel(reopening) }
        reopening = nil
        let new = SystemBus(
            loop: loop, address: address, daemon: "org.bluez",
            object: (
                "org.bluez.Agent1",
                { [weak self] sender, member, values in
                    self?.asked(sender, member, values.first?.text) ?? .failure(Self.rejected)
                }
            ),
            handle: { [weak self] in self?.happened($0) })
        do throws(Errno) {
            try new.open()
            bus = new
            problem = nil
            machine.busOpened()
        } catch {
            lost(error)
        }
    }

    func close() {
        if let reopening { loop.cancel(reopening) }
        reopening = nil
        bus?.close()
        bus = nil
        for (_, waits) in waiting { loop.cancel(waits.timer) }
        waiting = [:]
    }

    private func lost(_ reason: Errno) {
        bus?.close()
        bus = nil
        owner = ""
        if reason != problem {
            problem = reason
            logger.info("pairing agent unavailable: no system bus", metadata: ["cause": "\(reason)"])
        }
        reopening = loop.schedule(at: loop.now + Self.reopenInterval) { [weak self] in self?.open() }
        perform(machine.daemonVanished())
    }

    // MARK: Links

    /// Prepares the agent for a link attempt to this device.
    ///
    /// - Parameter proceed: called once, when the agent is registered, has failed or has timed out.
    func begin(_ device: AgentDevice, _ proceed: @escaping @Sendable () -> Void) {
        self.proceed(device)
        open()
        let timer = loop.schedule(at: loop.now + Self.patience) { [weak self] in self?.proceed(device) }
        waiting[device] = Waiting(proceed: proceed, timer: timer)
        perform(machine.begin(device))
    }

    func end(_ device: AgentDevice) {
        if let waits = waiting.removeValue(forKey: device) { loop.cancel(waits.timer) }
        perform(machine.end(device))
    }

    func answers(for device: AgentDevice) -> Bool { machine.answers(for: device) }

    var standing: AgentMachine.Standing? { bus == nil ? nil : machine.standing }

    var trouble: String? { bus == nil ? problem.map { Self.words(of: $0) } : machine.refusal }

    private static func words(of problem: Errno) -> String {
        problem.code == ELIBACC
            ? "libsystemd.so.0 is not there" : "the system bus cannot be reached (\(problem))"
    }

    private func proceed(_ device: AgentDevice) {
        guard let waits = waiting.removeValue(forKey: device) else { return }
        loop.cancel(waits.timer)
        waits.proceed()
    }

    private func perform(_ actions: [AgentMachine.Action]) {
        for action in actions {
            switch action {
            case .askWhetherPaired(let device): askWhetherPaired(device)
            case .register: call("RegisterAgent", [Self.path, Self.capability]) { $0.registered($1) }
            case .requestDefault: call("RequestDefaultAgent", [Self.path]) { $0.becameDefault($1) }
            case .unregister:
                listener.leaves()
                call("UnregisterAgent", [Self.path]) { own, _ in own.perform(own.machine.left()) }
            case .proceed(let device): proceed(device)
            }
        }
    }

    private func call(
        _ member: String, _ arguments: [BusValue], then: @escaping @Sendable (PairingAgent, BusError?) -> Void
    ) {
        bus?.send(SystemBus.Call("/org/bluez", "org.bluez.AgentManager1", member, arguments)) { [weak self] answer in
            guard let self else { return }
            if case .failure(let error) = answer { then(self, error) } else { then(self, nil) }
        }
    }

    private func askWhetherPaired(_ device: AgentDevice) {
        let arguments: [BusValue] = [.text("org.bluez.Device1"), .text("Paired")]
        let call = SystemBus.Call(device.path, "org.freedesktop.DBus.Properties", "Get", arguments)
        bus?.send(call) { [weak self] answer in
            guard let self else { return }
            perform(machine.paired(device, (try? answer.get())?.first?.list.first == .uint(1)))
        }
    }

    // MARK: Events from bluetoothd

    private func happened(_ event: SystemBus.Event) {
        switch event {
        case .owner(let owner): ownerChanged(owner)
        case .closed(let reason): lost(reason)
        case .signal: break
        }
    }

    private func ownerChanged(_ new: String) {
        guard new != owner else { return }
        owner = new
        logger.debug("bluetoothd presence changed", metadata: ["present": "\(!new.isEmpty)"])
        var actions = machine.daemonVanished()
        bus?.forgetCalls()
        if !new.isEmpty { actions += machine.daemonAppeared() }
        perform(actions)
    }

    private func registered(_ error: BusError?) {
        // AlreadyExists: our own earlier agent is still registered.
        let failure = error?.name == "org.bluez.Error.AlreadyExists" ? nil : error
        note(failure)
        perform(machine.registered(error: failure?.description))
    }

    private func becameDefault(_ error: BusError?) {
        note(error)
        perform(machine.becameDefault(error: error?.description))
        if error == nil { logger.debug("pairing agent registered") }
    }

    private func note(_ error: BusError?) {
        guard let error, error.description != machine.refusal else { return }
        logger.warning("pairing agent refused by bluetoothd", metadata: ["cause": "\(error)"])
    }

    private func asked(_ sender: String, _ member: String, _ path: String?) -> Result<[BusValue], BusError> {
        // Any program on the bus may call our object: accept only bluetoothd.
        guard sender == owner, !owner.isEmpty else { return .failure(Self.rejected) }
        let device = path.flatMap { AgentDevice(path: $0) }
        let request = AgentMachine.Request(member, device)
        let answer = machine.answer(request)
        logger.info(
            "pairing request answered",
            metadata: [
                "question": "\(member)", "device": "\(device.map { "\($0.address)" } ?? path ?? "")",
                "answer": "\(answer)",
            ])
        switch answer {
        case .pin:
            if let device { listener.pinGiven(device) }
            return .success([.text(String(pin.prefix(16)))])
        case .agreed:
            if request == .release { loop.execute { [weak self] in self?.released() } }
            return .success([])
        case .rejected: return .failure(Self.rejected)
        }
    }

    private func released() { perform(machine.daemonVanished()) }
}

extension AgentMachine.Request {
    init(_ member: String, _ device: AgentDevice?) {
        switch member {
        case "RequestPinCode": self = .pinCode(device)
        case "RequestConfirmation", "RequestAuthorization": self = .confirmation(device)
        case "Release": self = .release
        case "Cancel": self = .cancel
        default: self = .other
        }
    }
}
