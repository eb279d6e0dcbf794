import Domain
import GatewayAPI
import MeterCodec

extension MeterDirectory {
    /// Call only on the session loop.
    package nonisolated func radioDemand() -> RadioDemand {
        assumeIsolated { directory in
            var demand = RadioDemand()
            directory.forEach { session in
                for transport in session.missingOver { demand.missing[transport, default: 0] += 1 }
                if session.isDistant { demand.hasDistant = true }
                if let adapter = session.streamsFastOver { demand.streaming.insert(adapter) }
            }
            return demand
        }
    }
}

extension MeterDirectory {
    /// Logs an adapter's repair for each wanted meter that uses it or may connect over it. Call only on the session
    /// loop.
    package nonisolated func remedied(_ remedy: AdapterRemedy) { assumeIsolated { $0.tell(remedy) } }

    /// A separate method, because a nested closure crashes the compiler of Debian (Swift 6.2.3), which builds the arm64
    /// package.
    private func tell(_ remedy: AdapterRemedy) {
        let (adapter, log) = (remedy.adapter, log)
        forEach { session in
            guard session.machine.isWanted else { return }
            let isConcerned = session.isLinkUp ? session.link?.adapter == adapter : !session.missingOver.isEmpty
            if isConcerned { log?.remedied(session.id, remedy) }
        }
    }
}

extension DeviceSession {
    /// Maximum interval of readings at which a meter keeps its radio busy.
    private static let fastInterval = Duration.milliseconds(250)

    /// Radios that should find the meter. Empty if the meter has a link, is unwanted, or is held by another host.
    var missingOver: [LinkAddress.Transport] {
        guard machine.isWanted, !isLinkUp, !isDistant else { return [] }
        let here = links.inOrder.filter(\.isRadio).map(\.transport)
        guard here.isEmpty else { return here.contains(.spp) ? [.ble, .spp] : [.ble] }
        switch link?.transport ?? lastTransport {
        case .ble: return [.ble]
        case .spp: return [.ble, .spp]
        case .serial, .hid, .bulk, .network, .computed: return []
        case nil: return id.isRadioAddress ? possibleRadios : []
        }
    }

    private var possibleRadios: [LinkAddress.Transport] {
        let radios: [LinkAddress.Transport] = [.ble, .spp]
        guard let model else { return radios }
        return radios.filter { catalogue.driver(for: model, over: $0) != nil }
    }

    /// Whether this host wants the meter, but another host holds it.
    var isDistant: Bool {
        guard machine.isWanted, !search.isOn else { return false }
        return switch leaseStatus?.state {
        case .elsewhere, .waiting: true
        case .none?, .requesting, .held, .jeopardy, .lost, .unleased, .expired, nil: false
        }
    }

    /// Adapter over which the meter sends several readings a second; nil if it does not.
    var streamsFastOver: MACAddress? {
        guard isLinkUp, let interval = expectedInterval, interval <= Self.fastInterval else { return nil }
        return link?.adapter
    }
}

extension MeterID {
    fileprivate var isRadioAddress: Bool { if case .mac = self { true } else { false } }
}
