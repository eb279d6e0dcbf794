import BluetoothCore
package import Gateway
import LinuxIO
package import MeterModel

/// Slots for links, as channels ask for them on the loop.
extension Radios {
    package nonisolated func take(
        _ link: RadioLink, over transport: LinkAddress.Transport
    ) -> ChannelFailure? {
        assumeIsolated { $0.granted(link, transport) }
    }

    package nonisolated func linkUp(_ link: RadioLink, over transport: LinkAddress.Transport) {
        assumeIsolated { radios in
            _ = radios.change(link) { machine, now in machine.linkUp(SlotKey(link, transport), at: now) }
        }
    }

    package nonisolated func giveBack(_ link: RadioLink, over transport: LinkAddress.Transport) {
        assumeIsolated { radios in
            _ = radios.change(link) { machine, now in machine.giveBack(SlotKey(link, transport), at: now) }
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
        if isThere { return failure }
        return ChannelFailure(
            .adapter, "Adapter \(link.adapter), over which the meter was heard, is not there. Plug it in again.")
    }

    /// - Returns: false where the adapter is not there.
    private func change(
        _ link: RadioLink, _ body: (inout AdapterMachine, MonotonicTime) -> [AdapterAction]
    ) -> Bool {
        guard let index = present.first(where: { $0.address == link.adapter })?.index else { return false }
        let now = loop.now
        update(index, at: now) { body(&$0, now) }
        return true
    }
}

extension SlotKey {
    fileprivate init(_ link: RadioLink, _ transport: LinkAddress.Transport) {
        self.init(link.address, isClassic: transport == .spp)
    }
}
