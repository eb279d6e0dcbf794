import BluetoothCore
package import Domain
import LinuxIO

extension Radios {
    package nonisolated func take(
        _ link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure? {
        assumeIsolated { radios in
            let failure = radios.granted(link, transport)
            if failure == nil, let device = radios.pairingDevice(link, transport) { radios.pairings.begin(device) }
            return failure
        }
    }

    package nonisolated func prepare(
        _ link: RadioLink, over transport: LinkAddress.Transport, _ proceed: @escaping @Sendable () -> Void
    ) {
        assumeIsolated { radios in
            guard let device = radios.pairingDevice(link, transport) else { return proceed() }
            radios.pairings.prepare(device, proceed)
        }
    }

    package nonisolated func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport) {
        assumeIsolated { radios in
            if let device = radios.pairingDevice(link, transport) { radios.pairings.linkUp(device) }
            _ = radios.change(link) { machine, now in machine.linkUp(SlotKey(link, transport), at: now) }
            radios.lookAtDemandSoon()
        }
    }

    package nonisolated func explain(
        _ failure: ChannelFailure, of link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure {
        assumeIsolated { radios in
            // First handle the kernel's pending messages about the pairing. They explain the loss of the link, which
            // the event loop may report earlier.
            radios.kernel.catchUp()
            guard let device = radios.pairingDevice(link, transport) else { return failure }
            let isBondable = radios.present.first { $0.index == device.adapter }?.machine.isBondable
            return radios.pairings.explained(failure, of: link, device, isBondable: isBondable)
        }
    }

    package nonisolated func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport) {
        assumeIsolated { radios in
            if transport == .spp { radios.endPairing(link) }
            _ = radios.change(link) { machine, now in machine.giveBack(SlotKey(link, transport), at: now) }
            radios.lookAtDemandSoon()
        }
    }

    private func granted(_ link: RadioLink, _ transport: LinkAddress.Transport) -> ChannelFailure? {
        var failure: ChannelFailure?
        let isThere = change(link) { machine, now in
            let (refusal, actions) = machine.take(SlotKey(link, transport), at: now)
            failure = refusal.map { refusal in
                ChannelFailure(
                    refusal.isFull ? .busy : .adapter, "No link over adapter \(link.adapter): \(refusal.message)")
            }
            return actions
        }
        if isThere {
            if failure == nil, transport == .ble { loadParameters(for: link) }
            return failure
        }
        return ChannelFailure(
            .adapter, "Adapter \(link.adapter), over which the meter was heard, is not there. Plug it in again.")
    }

    /// Loads the link's connection parameters before the connect. The kernel reads them when it receives the meter's
    /// advertisement (`hci_le_create_conn_sync`, net/bluetooth/hci_sync.c; an L2CAP socket's connect reaches this
    /// function through `hci_connect_le_scan` and keeps the loaded parameters, `hci_explicit_conn_params_set`).
    ///
    /// Loads one device at a time: for a known device, a newer kernel (6.12, not 6.1) then keeps the parameters that
    /// other programs loaded. Otherwise the kernel drops those of devices without a pending connection
    /// (`load_conn_param`, net/bluetooth/mgmt.c), and their next links use the kernel's defaults. Without CAP_NET_ADMIN
    /// the kernel refuses the command, and the link uses the defaults.
    private func loadParameters(for link: RadioLink) {
        guard let index = index(of: link.adapter) else { return }
        let device = RadioAddress(link.address, link.isRandom ? .leRandom : .lePublic)
        kernel.tell(.loadConnectionParameters(device, .meter), to: index)
    }

    // MARK: Adapters

    private func change(
        _ link: RadioLink, _ body: (inout AdapterMachine, MonotonicTime) -> [AdapterAction]
    ) -> Bool {
        guard let index = index(of: link.adapter) else { return false }
        let now = loop.now
        update(index, at: now) { body(&$0, now) }
        return true
    }

    /// Returns the device to pair; nil for LE, or if the adapter is absent.
    private func pairingDevice(_ link: RadioLink, _ transport: LinkAddress.Transport) -> AgentDevice? {
        guard transport == .spp, let index = index(of: link.adapter) else { return nil }
        return AgentDevice(adapter: index, address: link.address)
    }

    private func endPairing(_ link: RadioLink) {
        let present = present
        pairings.end(with: link.address) { index in
            present.first { $0.index == index }?.address ?? link.adapter == link.adapter
        }
    }

    private func index(of adapter: MACAddress) -> UInt16? { present.first { $0.address == adapter }?.index }

    /// Updates the demand for a search in the next loop iteration: it depends on the meters' sessions, which have not
    /// handled the present event yet.
    private func lookAtDemandSoon() {
        loop.execute { [weak self] in self?.assumeIsolated { $0.lookAtDemand() } }
    }
}

extension SlotKey {
    fileprivate init(_ link: RadioLink, _ transport: LinkAddress.Transport) {
        self.init(link.address, isClassic: transport == .spp)
    }
}
