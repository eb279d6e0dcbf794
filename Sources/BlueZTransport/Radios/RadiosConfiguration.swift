package import BluetoothCore
package import Domain
package import LinuxIO

extension Radios {
    package struct Configuration: Sendable {
        package var timing = AdapterTiming()
        package var sightings = SightingTiming()
        /// Adapters to use; empty for all.
        package var adapters: Set<MACAddress> = []
        /// Number of links that an adapter is assumed to support.
        package var linksMax = 5
        package var search = SearchMode.gentle
        /// Time for which a user counts as searching after the last search request.
        package var byHand: Duration = .seconds(5)
        var expiryInterval: Duration = .seconds(5)
        /// Retry interval while the kernel has no Bluetooth, or after its management channel was lost.
        package var reopenInterval: Duration = .seconds(30)
        /// PIN of all known meters that require a PIN (Docs/Protocols/UM.md#links).
        package var pin = "1234"
        /// Whether this program becomes bluetoothd's agent while it makes a link to a meter that bluetoothd is not
        /// paired with. Without an agent, bluetoothd refuses PINs immediately (Docs/Decisions/0019).
        package var isAgent = false
        /// D-Bus address for bluetoothd. Nil for the system bus.
        package var busAddress: String?
        package var files = AdapterFiles()
        package var openSocket: @Sendable () throws(Errno) -> FileDescriptor = { () throws(Errno) in
            try ManagementChannel.openSocket()
        }

        package init() {}
    }
}
