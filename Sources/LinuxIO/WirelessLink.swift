import CLinux

package enum WirelessLink {
    /// Returns the centre frequency of a Wi-Fi interface's channel in MHz; nil if unknown. Uses the wireless
    /// extensions, which need no privilege (Linux net/wireless/wext-core.c, `wext_permission_check`) but may be
    /// missing.
    package static func frequency(of interface: String) -> Int? {
        let frequency = cl_wireless_frequency(interface)
        return frequency > 0 ? Int(frequency) : nil
    }
}
