import BluetoothCore
import Domain
import GatewayAPI
import LinuxIO
import Logging

/// Answers pairing requests and explains failed pairings. Use only on the event loop.
final class Pairings: @unchecked Sendable {
    private let configuration: Radios.Configuration
    private let kernel: KernelConnection
    private let loop: IOLoop
    private let logger: Logger
    private var agent: PairingAgent?
    private var attempts: [AgentDevice: PairingAttempt] = [:]

    /// Time for bluetoothd to answer a PIN request before this program answers: bluetoothd may hang, or ask a person
    /// through another agent.
    private static let agentPatience: Duration = .seconds(1)

    init(configuration: Radios.Configuration, kernel: KernelConnection, loop: IOLoop, logger: Logger) {
        self.configuration = configuration
        self.kernel = kernel
        self.loop = loop
        self.logger = logger
    }

    // MARK: The agent

    func open(agentLeaves: @escaping @Sendable () -> Void, changed: @escaping @Sendable () -> Void) {
        guard configuration.isAgent else { return }
        let listener = PairingAgent.Listener(
            pinGiven: { [weak self] device in self?.attempts[device]?.pinGiven() }, leaves: agentLeaves,
            changed: changed)
        let agent = PairingAgent(
            loop: loop, bus: configuration.busAddress, pin: configuration.pin, logger: logger, listener: listener)
        self.agent = agent
        agent.open()
    }

    func close() {
        agent?.close()
        agent = nil
        attempts = [:]
    }

    func status(isBondable: Bool?) -> PairingStatus {
        PairingStatus(bondable: isBondable, agent: shownAgent, error: agent?.trouble)
    }

    private var shownAgent: PairingStatus.Agent? {
        guard let agent else { return nil }
        switch agent.standing {
        case nil: return .unavailable
        case .noDaemon: return .alone
        case .ready: return .ready
        case .standing: return .standing
        case .refused: return .refused
        }
    }

    // MARK: Links

    func prepare(_ device: AgentDevice, _ proceed: @escaping @Sendable () -> Void) {
        guard let agent else { return proceed() }
        agent.begin(device, proceed)
    }

    func begin(_ device: AgentDevice) { attempts[device] = PairingAttempt() }

    /// Releases the agent: a link that is up needs no PIN.
    func linkUp(_ device: AgentDevice) { agent?.end(device) }

    /// Ends the meter's pairing attempts over all adapters for which `isOver` returns true.
    ///
    /// - Parameter isOver: whether this adapter had the ended link, or has disappeared.
    func end(with address: MACAddress, where isOver: (_ adapter: UInt16) -> Bool) {
        for device in attempts.keys where device.address == address && isOver(device.adapter) {
            attempts[device] = nil
            agent?.end(device)
        }
    }

    func explained(
        _ failure: ChannelFailure, of link: RadioLink, _ device: AgentDevice, isBondable: Bool?
    ) -> ChannelFailure {
        guard let attempt = attempts[device],
            let cause = attempt.cause(isRefused: failure.code == .unsuitable, isBondable: isBondable)
        else { return failure }
        return .pairing(link, cause, pin: configuration.pin, agentTrouble: agent?.trouble)
    }

    // MARK: Answers

    func answer(_ event: ManagementEvent, over adapter: PresentAdapter) {
        guard let device = event.pairingDevice, adapter.machine.expectsPairing(with: device) else { return }
        let key = AgentDevice(adapter: adapter.index, address: device.address)
        var metadata = adapter.metadata
        metadata["device"] = "\(device.address)"
        switch event {
        case .pinCodeRequest(_, let isSecure): answerPIN(device, isSecure: isSecure, key, metadata)
        case .userConfirmationRequest:
            logger.info("pairing confirmed", metadata: metadata)
            kernel.send(.userConfirmation(device, isConfirmed: true), to: adapter.index)
        case .userPasskeyRequest: kernel.send(.userPasskey(device, nil), to: adapter.index)
        case .newLinkKey:
            attempts[key]?.paired()
            logger.info("pairing completed", metadata: metadata)
        case .authenticationFailed(_, let status), .connectFailed(_, let status):
            attempts[key]?.failed(status)
            metadata["cause"] = "\(status.words)"
            logger.warning("pairing failed", metadata: metadata)
        default: break
        }
    }

    private func answerPIN(_ device: RadioAddress, isSecure: Bool, _ key: AgentDevice, _ metadata: Logger.Metadata) {
        attempts[key]?.pinRequested()
        guard !isSecure else {
            return kernel.send(.pinCodeRefusal(device), to: key.adapter)
        }
        guard agent?.answers(for: key) == true else { return sendPIN(device, key, metadata) }
        // First let bluetoothd answer through our agent: the adapter must not get two answers.
        _ = loop.schedule(at: loop.now + Self.agentPatience) { [weak self] in
            guard let self, attempts[key]?.isUnanswered == true else { return }
            sendPIN(device, key, metadata)
        }
    }

    private func sendPIN(_ device: RadioAddress, _ key: AgentDevice, _ metadata: Logger.Metadata) {
        logger.info("pairing PIN sent", metadata: metadata)
        attempts[key]?.pinSent()
        kernel.send(.pinCodeReply(device, pin: configuration.pin), to: key.adapter)
    }

    func answered(_ opcode: UInt16, _ status: ManagementStatus, by adapter: UInt16) {
        guard opcode == ManagementCommand.pinCodeReplyOpcode else { return }
        for key in attempts.keys where key.adapter == adapter { attempts[key]?.answered(status) }
    }
}

extension ManagementEvent {
    fileprivate var pairingDevice: RadioAddress? {
        switch self {
        case .pinCodeRequest(let device, _), .userConfirmationRequest(let device, _, _),
            .userPasskeyRequest(let device), .authenticationFailed(let device, _), .newLinkKey(let device),
            .connectFailed(let device, .authenticationFailed):
            device
        default: nil
        }
    }
}
