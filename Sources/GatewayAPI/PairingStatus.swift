/// State of pairing over an adapter, for meters that ask for a PIN.
package struct PairingStatus: Codable, Hashable, Sendable {
    /// If false, the kernel refuses every PIN; null without Bluetooth Classic.
    @NullCodable package var bondable: Bool?
    /// Null if the daemon is no agent, as in a test.
    @NullCodable package var agent: Agent?
    @NullCodable package var error: String?

    /// Whether the daemon can be bluetoothd's pairing agent.
    package enum Agent: String, Codable, Sendable, CaseIterable {
        /// The system bus or the library for it is missing.
        case unavailable
        /// bluetoothd is not on the bus, so the kernel asks only the daemon.
        case alone
        /// bluetoothd is present, and no meter needs it now.
        case ready
        /// A link is being opened to a meter that bluetoothd is not paired with.
        case standing
        /// bluetoothd or the bus refuses the agent.
        case refused
    }

    package init(bondable: Bool?, agent: Agent?, error: String?) {
        self.bondable = bondable
        self.agent = agent
        self.error = error
    }
}
