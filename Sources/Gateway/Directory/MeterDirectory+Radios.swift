import Domain
import GatewayAPI
import MeterCodec

/// What the meters need from the radios.
extension MeterDirectory {
    /// To be called only on the loop, where the sessions are.
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
    /// Something was done about an adapter, which is told in the log of each wanted meter that is linked over it, or may come
    /// over a radio. To be called only on the loop, where the sessions are.
    package nonisolated func remedied(_ remedy: AdapterRemedy) { assumeIsolated { $0.tell(remedy) } }

    /// A method of its own: as a closure within that closure it ends Debian's Swift 6.2.3, which builds the arm64 package.
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
    /// A meter that sends something more often than this keeps its radio busy.
    private static let fastInterval = Duration.milliseconds(250)

    /// The radios over which the meter may come. Empty while it has a link, is not wanted, or another host has it.
    var missingOver: [LinkAddress.Transport] {
        guard machine.isWanted, !isLinkUp, !isDistant else { return [] }
        let here = links.inOrder.filter(\.isRadio).map(\.transport)
        guard here.isEmpty else { return here.contains(.spp) ? [.ble, .spp] : [.ble] }
        switch link?.transport ?? lastTransport {
        case .ble: return [.ble]
        case .spp: return [.ble, .spp]
        case .serial, .hid, .bulk, .network: return []
        case nil: return id.isRadioAddress ? possibleRadios : []
        }
    }

    /// Both radios if the model does not tell.
    private var possibleRadios: [LinkAddress.Transport] {
        let radios: [LinkAddress.Transport] = [.ble, .spp]
        guard let model else { return radios }
        return radios.filter { catalogue.driver(for: model, over: $0) != nil }
    }

    /// Whether the meter is wanted, but another host has it. While connected there, it is not heard here.
    var isDistant: Bool {
        guard machine.isWanted, !search.isOn else { return false }
        return switch leaseStatus?.state {
        case .elsewhere, .waiting: true
        case .none?, .requesting, .held, .jeopardy, .lost, .unleased, .expired, nil: false
        }
    }

    /// The adapter over which the meter sends something many times a second.
    var streamsFastOver: MACAddress? {
        guard isLinkUp, let interval = expectedInterval, interval <= Self.fastInterval else { return nil }
        return link?.adapter
    }
}

extension MeterID {
    fileprivate var isRadioAddress: Bool { if case .mac = self { true } else { false } }
}
