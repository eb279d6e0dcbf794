/// The state of pairing over an adapter, for meters that ask for a PIN.
package struct PairingStatus: Codable, Hashable, Sendable {
    /// If false, the kernel refuses every PIN; null without Bluetooth Classic.
    @NullCodable package var bondable: Bool?
    /// Null if the daemon does not act as an agent, as in a test.
    @NullCodable package var agent: Agent?
    /// Why there is no agent; null if nothing is wrong.
    @NullCodable package var error: String?

    /// Whether the daemon can be bluetoothd's agent for a meter that asks for a PIN.
    package enum Agent: String, Codable, Sendable, CaseIterable {
        /// There is no system bus, or no library for it.
        case unavailable
        /// bluetoothd is not on the bus: the kernel asks only the daemon.
        case alone
        /// bluetoothd is there, and no meter needs it at the moment.
        case ready
        /// A link is being made to a meter that bluetoothd is not paired with.
        case standing
        /// bluetoothd or the bus does not allow it.
        case refused
    }

    package init(bondable: Bool?, agent: Agent?, error: String?) {
        self.bondable = bondable
        self.agent = agent
        self.error = error
    }
}
