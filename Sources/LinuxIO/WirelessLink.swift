import CLinux

/// What the kernel reports about a Wi-Fi interface.
package enum WirelessLink {
    /// The centre frequency of its channel in MHz. Nil if it has none, or does not say. Asks through the wireless
    /// extensions, which needs no privilege (Linux net/wireless/wext-core.c, `wext_permission_check`); kernels may be
    /// without.
    package static func frequency(of interface: String) -> Int? {
        let frequency = cl_wireless_frequency(interface)
        return frequency > 0 ? Int(frequency) : nil
    }
}
