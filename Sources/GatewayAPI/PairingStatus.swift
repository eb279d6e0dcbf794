/// How meters that ask for a PIN fare over an adapter.
package struct PairingStatus: Codable, Hashable, Sendable {
    /// Off, the kernel refuses every PIN; null where there is no Bluetooth Classic.
    @NullCodable package var bondable: Bool?
    /// null: the daemon is nobody's agent, as in a test.
    @NullCodable package var agent: Agent?
    /// Why there is no agent; null while nothing is wrong.
    @NullCodable package var error: String?

    /// Whether bluetoothd can have the daemon as its agent for a meter that asks for a PIN.
    package enum Agent: String, Codable, Sendable, CaseIterable {
        /// There is no system bus, or no library to use it by.
        case unavailable
        /// No bluetoothd is on the bus: the kernel asks the daemon alone.
        case alone
        /// bluetoothd is there, and no meter needs it just now.
        case ready
        /// A link is being made to a meter that bluetoothd is not paired with.
        case standing
        /// bluetoothd, or the bus, does not allow it.
        case refused
    }

    package init(bondable: Bool?, agent: Agent?, error: String?) {
        self.bondable = bondable
        self.agent = agent
        self.error = error
    }
}
