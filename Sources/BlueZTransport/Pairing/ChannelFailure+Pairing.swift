import BluetoothCore
import Domain

extension ChannelFailure {
    static func pairing(
        _ link: RadioLink, _ failure: PairingFailure, pin: String, agentTrouble: String?
    ) -> ChannelFailure {
        let meter = link.address
        // One manual pairing is enough: bluetoothd stores the key for every later link (BlueZ src/adapter.c,
        // `new_link_key_callback`, `load_link_keys`).
        let remedy = "Pair it once by hand: `bluetoothctl pair \(meter)`, and type its PIN, mostly \(pin)"
        switch failure {
        case .refusedByAnother:
            let agent = agentTrouble.map { " meterd could not be that agent: \($0)." } ?? ""
            return ChannelFailure(
                .busy,
                "\(meter) asked for its PIN, and another program of this host refused before meterd could answer, most"
                    + " likely bluetoothd, which refuses where no agent is registered with it.\(agent) \(remedy).")
        case .wrongPIN:
            return ChannelFailure(.unsuitable, "\(meter) refused the PIN \(pin). \(remedy).")
        case .silentAfterPIN:
            return ChannelFailure(
                .unreachable,
                "\(meter) asked for its PIN, was told \(pin), and the link ended without a word about it: the PIN is"
                    + " wrong, or it went out of range. \(remedy).")
        case .unanswered:
            return ChannelFailure(
                .busy,
                "\(meter) asked for its PIN, and nobody answered in time: another program's agent was asked. Answer what"
                    + " it asks. Or: \(remedy).")
        case .notBondable:
            return ChannelFailure(
                .adapter,
                "\(meter) wants to pair, and the kernel refuses it over \(link.adapter): another program switched pairing"
                    + " off (Bondable). `bluetoothctl pairable on` switches it on; `meterctl doctor` looks at it.")
        case .keyRefused:
            return ChannelFailure(
                .unsuitable,
                "\(meter) refused the key that is stored for it. Forget it with `bluetoothctl remove \(meter)`, and connect"
                    + " again.")
        }
    }
}
