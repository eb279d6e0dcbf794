/// This host's radios in `GET /v1/support`.
package struct SupportRadios: Codable, Hashable, Sendable {
    package var adapters: [Adapter]
    /// Advertisements of possible meters. Other devices are only counted.
    package var advertisements: [Advertisement]
    /// Number of devices detected in the last minute that cannot be meters.
    package var strangers: Int
    /// Last Bluetooth management commands to and events from the kernel, oldest first. Reports of devices are omitted.
    package var management: [Trace]

    package struct Adapter: Codable, Hashable, Sendable {
        package var address: String
        package var name: String
        /// Company number assigned by the Bluetooth SIG.
        package var manufacturer: Int
        /// Bluetooth version as numbered by HCI: 6 is Bluetooth 4.0, 9 is 5.0.
        package var hci_version: Int
        /// The kernel's bits (`MGMT_SETTING_…`), in hexadecimal.
        package var supported_settings: String
        package var current_settings: String
        /// Bus over which meterd can reset the chip, `usb` or `serial`; null if a reset is impossible.
        @NullCodable package var reset: String?

        package init(
            address: String, name: String, manufacturer: Int, hci_version: Int, supported_settings: String,
            current_settings: String, reset: String?
        ) {
            self.address = address
            self.name = name
            self.manufacturer = manufacturer
            self.hci_version = hci_version
            self.supported_settings = supported_settings
            self.current_settings = current_settings
            self.reset = reset
        }
    }

    package struct Advertisement: Codable, Hashable, Sendable {
        package var address: String
        /// `public`, `random` or `classic`.
        package var address_type: String
        @NullCodable package var name: String?
        @NullCodable package var rssi: Int?
        /// Raw advertisements in hexadecimal, without duplicates, newest first.
        package var data: [String]

        package init(address: String, address_type: String, name: String?, rssi: Int?, data: [String]) {
            self.address = address
            self.address_type = address_type
            self.name = name
            self.rssi = rssi
            self.data = data
        }
    }

    package struct Trace: Codable, Hashable, Sendable {
        package var age_ms: Int64
        /// The kernel's name, such as `hci0`.
        @NullCodable package var adapter: String?
        /// `out`: to the kernel. `in`: from the kernel.
        package var dir: String
        package var words: String

        package init(age_ms: Int64, adapter: String?, dir: String, words: String) {
            self.age_ms = age_ms
            self.adapter = adapter
            self.dir = dir
            self.words = words
        }
    }

    package init(adapters: [Adapter], advertisements: [Advertisement], strangers: Int, management: [Trace]) {
        self.adapters = adapters
        self.advertisements = advertisements
        self.strangers = strangers
        self.management = management
    }
}
