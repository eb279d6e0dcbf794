/// UUID of a service, characteristic or descriptor (Core Specification 5.4, vol 3 part B 2.5.1).
package struct BluetoothUUID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Parameter short: 16-bit or 32-bit form, within the Bluetooth base UUID.
    package init(short: UInt32) {
        high = UInt64(short) << 32 | 0x1000
        low = 0x8000_0080_5F9B_34FB
    }

    package var short: UInt16? {
        self == BluetoothUUID(short: UInt32(high >> 32)) ? UInt16(exactly: high >> 32) : nil
    }
}
