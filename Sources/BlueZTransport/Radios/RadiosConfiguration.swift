package import BluetoothCore
package import Domain
package import LinuxIO

extension Radios {
    package struct Configuration: Sendable {
        package var timing = AdapterTiming()
        package var sightings = SightingTiming()
        /// The adapters to use; empty for all of them.
        package var adapters: Set<MACAddress> = []
        /// Number of links an adapter is assumed to support.
        package var linksMax = 5
        /// How much airtime the search may use.
        package var search = SearchMode.gentle
        /// How long a person counts as looking after their last request.
        package var byHand: Duration = .seconds(5)
        /// How often to check for meters that are no longer heard.
        var expiryInterval: Duration = .seconds(5)
        /// How soon to retry if the kernel has no Bluetooth, or the channel is lost.
        package var reopenInterval: Duration = .seconds(30)
        /// For meters that want a PIN: every known meter has this one (Docs/Protocols/UM.md#links).
        package var pin = "1234"
        /// Whether this program becomes bluetoothd's agent, if bluetoothd runs, while a link is made to a meter that it
        /// is not paired with: without an agent it refuses PINs at once (Docs/Decisions/0019).
        package var isAgent = false
        /// Where to find bluetoothd. Nil for the system bus.
        package var busAddress: String?
        package var files = AdapterFiles()
        /// The kernel's management channel.
        package var openSocket: @Sendable () throws(Errno) -> FileDescriptor = { () throws(Errno) in
            try ManagementChannel.openSocket()
        }

        package init() {}
    }
}
