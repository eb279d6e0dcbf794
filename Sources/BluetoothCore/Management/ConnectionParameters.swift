/// Connection interval, latency and supervision timeout of an LE link (Core Specification 5.4, vol 4 part E 7.8.12).
package struct ConnectionParameters: Hashable, Sendable {
    /// Shortest connection interval, in units of 1.25 ms.
    package var intervalMin: UInt16
    package var intervalMax: UInt16
    /// Number of connection events that the device may skip.
    package var latency: UInt16
    /// Time of silence that ends the link, in units of 10 ms.
    package var supervisionTimeout: UInt16

    package init(intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Parameters for links to meters.
    ///
    /// The kernel's own supervision timeout is 420 ms (`le_supv_timeout`, net/bluetooth/hci_core.c): ten connection
    /// events disturbed by Wi-Fi on the same chip would end a link. So the timeout here is 8 s, as in habluetooth for a
    /// link in use (`MEDIUM_CONN_TIMEOUT`, src/habluetooth/const.py). The interval is the kernel's own, 30 to 50 ms.
    /// habluetooth's 8.75 to 11.25 ms would use four times the airtime.
    package static let meter = ConnectionParameters(
        intervalMin: 0x18, intervalMax: 0x28, latency: 0, supervisionTimeout: 800)

    /// The kernel silently ignores invalid parameters (`hci_check_conn_params`, include/net/bluetooth/hci_core.h).
    package var isValid: Bool {
        guard intervalMin <= intervalMax, intervalMin >= 6, intervalMax <= 3200,
            (10...3200).contains(supervisionTimeout), UInt32(intervalMax) < UInt32(supervisionTimeout) * 8
        else { return false }
        // For a quotient of zero, this wraps around, as the kernel's calculation does.
        let latencyMax = UInt16(truncatingIfNeeded: UInt32(supervisionTimeout) * 4 / UInt32(intervalMax)) &- 1
        return latency <= 499 && latency <= latencyMax
    }

    /// Encoding of the management interface (`struct mgmt_conn_param`, include/net/bluetooth/mgmt.h).
    var bytes: [UInt8] {
        intervalMin.littleEndianBytes + intervalMax.littleEndianBytes + latency.littleEndianBytes
            + supervisionTimeout.littleEndianBytes
    }
}
