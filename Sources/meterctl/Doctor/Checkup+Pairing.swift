import GatewayAPI

extension Checkup {
    func pairing(_ adapters: [AdapterStatus]) -> [Finding] {
        // All adapters report the same pairing agent, the host's.
        let agent = adapters.compactMap(\.pairing).first.flatMap(agent)
        return adapters.compactMap(Self.bondable) + [agent].compactMap { $0 }
    }

    private static func bondable(_ adapter: AdapterStatus) -> Finding? {
        guard adapter.pairing?.bondable == false else { return nil }
        return Finding(
            "pairing", .problem,
            "\(adapter.address)\(adapter.name.map { " (\($0))" } ?? ""): pairing is off (Bondable), so the kernel refuses"
                + " every PIN",
            next: "bluetoothctl pairable on; if it goes off again, meterd's log reports the other program")
    }

    private func agent(_ pairing: PairingStatus) -> Finding? {
        let error = pairing.error ?? "it does not say why"
        switch pairing.agent {
        case nil: return nil
        case .ready, .standing:
            return Finding("pairing", .ok, "bluetoothd asks meterd when a meter wants its PIN")
        case .alone:
            guard machine.bluetoothDaemon != nil else { return nil }
            return Finding(
                "pairing", .note,
                "bluetoothd runs, and is not on the system bus: it may refuse PINs before meterd answers",
                next: "sudo systemctl restart bluetooth")
        case .refused:
            return Finding(
                "pairing", .problem, "bluetoothd does not take meterd as its agent: \(error)", next: Self.byHand)
        case .unavailable:
            guard machine.bluetoothDaemon != nil else { return nil }
            return Finding(
                "pairing", .problem,
                "bluetoothd runs, and meterd cannot be its agent: \(error). Without an agent it refuses PINs",
                next: Self.byHand)
        }
    }

    private static let byHand = "pair once with a meter that wants a PIN: bluetoothctl pair ADDRESS"
}
