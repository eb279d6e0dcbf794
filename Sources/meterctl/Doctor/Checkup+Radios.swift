import GatewayAPI

extension Checkup {
    /// - Parameter known: adapters as reported by the daemon; empty if it has none or does not answer.
    func radios(_ known: [AdapterStatus]) -> [Finding] {
        var all = machine.bluetoothSwitches.filter { $0.isOffBySoftware || $0.isOffByHardware }.map { radio in
            Finding(
                "rfkill", .problem,
                "\(radio.name) is switched off \(radio.isOffByHardware ? "by a switch" : "by software")",
                next: radio.isOffByHardware ? "use the machine's own switch" : "sudo rfkill unblock bluetooth")
        }
        let others = known.contains { $0.state == .searching || $0.state == .idle }
        let own = known.filter { $0.proxy == nil }
        all += own.isEmpty ? unusedAdapters : []
        all += known.map { Self.adapter($0, besideOthers: others) }
        all += known.compactMap { otherSearch($0) }
        all += [ownRadioOff, otherDaemon, sharedAntenna, supply].compactMap { $0 } + clones + timeouts(besides: known)
        return all
    }

    /// - Parameter others: whether other adapters still find meters.
    private static func adapter(_ adapter: AdapterStatus, besideOthers others: Bool) -> Finding {
        let kind = adapter.proxy == nil ? "adapter" : "proxy"
        let name = "\(adapter.address)\(adapter.name.map { " (\($0))" } ?? "")"
        switch adapter.state {
        case .searching, .idle, .starting:
            if adapter.dropped > 0 {
                return Finding(
                    kind, .note,
                    "\(name) heard \(adapter.dropped) devices that look like meters and are not shown",
                    next: "meterctl scan --all says why")
            }
            return Finding(
                kind, .ok,
                "\(name) is \(adapter.state.rawValue), \(adapter.heard) devices heard in the last minute, "
                    + "\(adapter.links) of \(adapter.links_max) links in use")
        case .recovering:
            return Finding(
                kind, .note, "\(name): \(adapter.error ?? "something went wrong")",
                next: "meterd tries a remedy; run this again in a minute")
        case .gone where others:
            return Finding(kind, .note, "\(name) is gone, and others are there", next: adapter.error)
        case .blocked, .failed, .forbidden, .gone:
            return Finding(
                kind, .problem, "\(name) is \(adapter.state.rawValue)\(adapter.error.map { ": \($0)" } ?? "")",
                next: "meterctl status shows the details")
        }
    }

    static func nodes(_ nodes: ScanNodes) -> [Finding] {
        guard nodes.browses else { return [] }
        if let error = nodes.error {
            let words = "meterd does not look for Bluetooth proxies in the network: \(error)"
            return [Finding("network", .note, words, next: nodes.next)]
        }
        guard let words = NodeText.offer(nodes), let lines = NodeText.lines(for: nodes) else {
            return [Finding("network", .ok, "no ESPHome node answers that meterd.toml does not name")]
        }
        let isProxy = nodes.nodes.contains { $0.looks_like_proxy && !$0.configured }
        let keys = lines.dropFirst().joined(separator: ", ")
        let next = "to use one, add to meterd.toml \(lines[0]) and below it \(keys)"
        return [Finding("network", isProxy ? .note : .ok, words, next: next)]
    }

    private var unusedAdapters: [Finding] {
        guard !machine.adapters.isEmpty else {
            // `ownRadioOff` already reports the missing adapter.
            guard machine.radioSwitchedOff == nil else { return [] }
            let words = "no adapter found" + (machine.hasBluetooth ? "" : ", and the kernel has no Bluetooth loaded")
            return [
                Finding(
                    "adapter", .note, words,
                    next: "plug in a USB Bluetooth adapter for meters without a cable")
            ]
        }
        let names = machine.adapters.map(\.name).joined(separator: ", ")
        guard case .answers = daemon else { return [Finding("adapter", .ok, names)] }
        return [
            Finding(
                "adapter", .note, "\(names): meterd uses none of them",
                next: "see [bluetooth] in meterd.toml, and the log of meterd")
        ]
    }

    private var otherDaemon: Finding? {
        guard let version = machine.bluetoothDaemon else { return nil }
        return Finding(
            "bluetoothd", .ok,
            "BlueZ\(version.isEmpty ? "" : " \(version)") runs beside meterd; a meter that it holds is free again after: "
                + "bluetoothctl disconnect ADDRESS")
    }

    private var clones: [Finding] {
        machine.adapters.filter { $0.usb == MachineFacts.USBIdentity(vendor: 0x0A12, product: 0x0001) }.map { adapter in
            Finding(
                "adapter", .note, "\(adapter.name) calls itself a CSR8510, like copies that lock up permanently",
                next: "if it stops hearing meters, unplug it and plug it in again, or use another one")
        }
    }
}
