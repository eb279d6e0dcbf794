/// Bluetooth pairing on one adapter, for meters that require a PIN.
package struct PairingStatus: Codable, Hashable, Sendable {
    /// Whether the adapter accepts pairing; if false, the kernel refuses every PIN. Null without Bluetooth Classic.
    @NullCodable package var bondable: Bool?
    /// Null if meterd runs no pairing agent, as in a test.
    @NullCodable package var agent: Agent?
    @NullCodable package var error: String?

    package enum Agent: String, Codable, Sendable, CaseIterable {
        /// The system bus or the library for it is missing.
        case unavailable
        /// bluetoothd is not on the bus, so meterd alone answers the kernel's pairing requests.
        case alone
        /// bluetoothd is present, and no meter needs pairing now.
        case ready
        /// meterd is the default agent, because it is opening a link to a meter that bluetoothd is not paired with.
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
