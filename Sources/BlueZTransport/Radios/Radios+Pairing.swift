import BluetoothCore
import GatewayAPI
package import IOPorts
import LinuxIO
import Logging
package import MeterModel

/// Meters that want a PIN: who answers, and the outcome.
extension Radios {
    /// If bluetoothd should answer but does not, we do: it may hang, or ask another agent, which means a person.
    private static let agentPatience: Duration = .seconds(1)

    // MARK: The agent

    func openAgent() {
        guard configuration.isAgent else { return }
        let listener = PairingAgent.Listener(
            pinGiven: { [weak self] device in
                self?.assumeIsolated { $0.pairings[device]?.pinGiven() }
            },
            leaves: { [weak self] in self?.assumeIsolated { $0.agentLeaves() } })
        let agent = PairingAgent(
            loop: loop, bus: configuration.busAddress, pin: configuration.pin, logger: logger, listener: listener)
        self.agent = agent
        agent.open()
    }

    private func agentLeaves() {
        let now = loop.now
        for place in present.indices { present[place].machine.agentLeaves(at: now) }
    }

    var shownAgent: PairingStatus.Agent? {
        guard let agent else { return nil }
        switch agent.standing {
        case nil: return .unavailable
        case .noDaemon: return .alone
        case .ready: return .ready
        case .standing: return .standing
        case .refused: return .refused
        }
    }

    var agentTrouble: String? { agent?.trouble }

    // MARK: Links

    package nonisolated func prepare(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void
    ) {
        assumeIsolated { radios in
            guard let agent = radios.agent, let device = radios.pairingDevice(link, transport) else {
                return proceed()
            }
            agent.begin(device, proceed)
        }
    }

    package nonisolated func explain(
        _ failure: ChannelFailure, of link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure {
        assumeIsolated { radios in
            // The link's own socket may be read before the kernel's messages about the pairing.
            radios.channel?.catchUp()
            return radios.explained(failure, link, transport)
        }
    }

    func beginPairing(_ link: RadioLink, _ transport: LinkAddress.Transport) {
        guard let device = pairingDevice(link, transport) else { return }
        pairings[device] = PairingAttempt()
    }

    /// A PIN is no longer needed.
    func endAgent(_ link: RadioLink, _ transport: LinkAddress.Transport) {
        guard let device = pairingDevice(link, transport) else { return }
        agent?.end(device)
    }

    func endPairing(_ link: RadioLink, _ transport: LinkAddress.Transport) {
        // Its adapter may be gone, or back under another number.
        for device in pairings.keys where device.address == link.address && transport == .spp {
            guard adapterAddress(device.adapter) ?? link.adapter == link.adapter else { continue }
            pairings[device] = nil
            agent?.end(device)
        }
    }

    private func adapterAddress(_ index: UInt16) -> MACAddress? { present.first { $0.index == index }?.address }

    private func pairingDevice(_ link: RadioLink, _ transport: LinkAddress.Transport) -> AgentDevice? {
        guard transport == .spp, let index = present.first(where: { $0.address == link.adapter })?.index else {
            return nil
        }
        return AgentDevice(adapter: index, address: link.address)
    }

    private func explained(
        _ failure: ChannelFailure, _ link: RadioLink, _ transport: LinkAddress.Transport
    ) -> ChannelFailure {
        guard let device = pairingDevice(link, transport), let attempt = pairings[device] else { return failure }
        let isBondable = present.first { $0.index == device.adapter }?.machine.isBondable
        guard let cause = attempt.cause(isRefused: failure.code == .unsuitable, isBondable: isBondable) else {
            return failure
        }
        return .pairing(link, cause, pin: configuration.pin, agentTrouble: agentTrouble)
    }

    // MARK: Answers

    /// Answers for devices to which a link is being made. All others are another program's business.
    func answerPairing(_ event: ManagementEvent, _ index: UInt16) {
        guard let device = event.pairingDevice,
            let adapter = present.first(where: { $0.index == index }), adapter.machine.expectsPairing(with: device)
        else { return }
        let key = AgentDevice(adapter: index, address: device.address)
        var metadata = adapter.metadata
        metadata["device"] = "\(device.address)"
        switch event {
        case .pinCodeRequest(_, let isSecure): answerPIN(device, isSecure: isSecure, key, metadata)
        case .userConfirmationRequest:
            logger.info("pairing confirmed", metadata: metadata)
            channel?.send(.userConfirmation(device, isConfirmed: true), to: index)
        case .userPasskeyRequest: channel?.send(.userPasskey(device, nil), to: index)
        case .newLinkKey:
            pairings[key]?.paired()
            logger.info("paired", metadata: metadata)
        case .authenticationFailed(_, let status):
            pairings[key]?.failed(status)
            metadata["cause"] = "\(status.words)"
            logger.warning("pairing failed", metadata: metadata)
        default: break
        }
    }

    private func answerPIN(_ device: RadioAddress, isSecure: Bool, _ key: AgentDevice, _ metadata: Logger.Metadata) {
        pairings[key]?.pinRequested()
        guard !isSecure else {
            // The device wants sixteen digits, which no meter does.
            channel?.send(.pinCodeRefusal(device), to: key.adapter)
            return
        }
        guard agent?.answers(for: key) == true else { return sendPIN(device, key, metadata) }
        // bluetoothd asks its agent, which is us. The adapter must not get two answers.
        _ = loop.schedule(at: loop.now + Self.agentPatience) { [weak self] in
            self?.assumeIsolated { radios in
                guard radios.pairings[key]?.isUnanswered == true else { return }
                radios.sendPIN(device, key, metadata)
            }
        }
    }

    private func sendPIN(_ device: RadioAddress, _ key: AgentDevice, _ metadata: Logger.Metadata) {
        logger.info("pairing with a PIN", metadata: metadata)
        pairings[key]?.pinSent()
        channel?.send(.pinCodeReply(device, pin: configuration.pin), to: key.adapter)
    }

    /// The outcome of our PIN. There is hardly ever more than one under way.
    func notePairingAnswer(_ opcode: UInt16, _ status: ManagementStatus, _ index: UInt16) {
        guard opcode == ManagementCommand.pinCodeReplyOpcode else { return }
        for key in pairings.keys where key.adapter == index { pairings[key]?.answered(status) }
    }
}

extension ManagementEvent {
    fileprivate var pairingDevice: RadioAddress? {
        switch self {
        case .pinCodeRequest(let device, _), .userConfirmationRequest(let device, _, _),
            .userPasskeyRequest(let device), .authenticationFailed(let device, _), .newLinkKey(let device):
            device
        default: nil
        }
    }
}
