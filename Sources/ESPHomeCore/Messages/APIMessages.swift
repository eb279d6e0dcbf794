/// A message with its number. Numbers and fields are those of `api.proto` in aioesphomeapi 46.23.0.
package protocol APIMessage: ProtoMessage {
    static var id: UInt32 { get }
}

extension APIMessage {
    package var frame: APIFrame { APIFrame(id: Self.id, body: encoded) }

    /// The message in a frame of its number. Nil if the frame cannot be read.
    package init?(_ frame: APIFrame) {
        guard frame.id == Self.id else { return nil }
        self.init(encoded: frame.body)
    }

    package static func made(_ change: (inout Self) -> Void) -> Self {
        var message = Self()
        change(&message)
        return message
    }
}

/// The node's and the host's first words.
package struct HelloRequest: APIMessage {
    package static let id: UInt32 = 1
    package var client = ""
    package var major: UInt32 = 0
    package var minor: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.text(1, &client)
        fields.number(2, &major)
        fields.number(3, &minor)
    }
}

package struct HelloResponse: APIMessage {
    package static let id: UInt32 = 2
    package var major: UInt32 = 0
    package var minor: UInt32 = 0
    package var server = ""
    package var name = ""

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &major)
        fields.number(2, &minor)
        fields.text(3, &server)
        fields.text(4, &name)
    }
}

/// The login of firmware before 2026.1, which wants it even where it has no password.
package struct AuthenticationRequest: APIMessage {
    package static let id: UInt32 = 3
    package var password = ""

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.text(1, &password) }
}

package struct AuthenticationResponse: APIMessage {
    package static let id: UInt32 = 4
    package var isRefused = false

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.flag(1, &isRefused) }
}

package struct DeviceInfoResponse: APIMessage {
    package static let id: UInt32 = 10
    package var name = ""
    /// `AA:BB:CC:DD:EE:FF`, of the network.
    package var mac = ""
    package var version = ""
    package var model = ""
    /// For people; may be empty.
    package var friendlyName = ""
    package var features: UInt32 = 0
    /// The address of its Bluetooth radio; empty in old firmware.
    package var bluetoothMAC = ""

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.text(2, &name)
        fields.text(3, &mac)
        fields.text(4, &version)
        fields.text(6, &model)
        fields.text(13, &friendlyName)
        fields.number(15, &features)
        fields.text(18, &bluetoothMAC)
    }
}

/// What a proxy can do (`BluetoothProxyFeature` in aioesphomeapi's `model.py`).
package struct ProxyFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let passiveScan = ProxyFeatures(rawValue: 1)
    package static let activeConnections = ProxyFeatures(rawValue: 2)
    package static let remoteCaching = ProxyFeatures(rawValue: 4)
    package static let rawAdvertisements = ProxyFeatures(rawValue: 32)
    package static let scannerState = ProxyFeatures(rawValue: 64)
}

/// Messages without fields.
package enum EmptyMessage {
    package static let disconnectRequest = APIFrame(id: 5, body: [])
    package static let disconnectResponse = APIFrame(id: 6, body: [])
    package static let pingRequest = APIFrame(id: 7, body: [])
    package static let pingResponse = APIFrame(id: 8, body: [])
    package static let deviceInfoRequest = APIFrame(id: 9, body: [])
    package static let listEntitiesRequest = APIFrame(id: 11, body: [])
    package static let listEntitiesDone = APIFrame(id: 19, body: [])
    package static let subscribeStatesRequest = APIFrame(id: 20, body: [])
    package static let subscribeConnectionsFree = APIFrame(id: 80, body: [])
    package static let unsubscribeAdvertisements = APIFrame(id: 87, body: [])
}

package struct SubscribeAdvertisements: APIMessage {
    package static let id: UInt32 = 66
    /// 1: as they come over the air.
    package var flags: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.number(1, &flags) }
}

package struct RawAdvertisements: APIMessage {
    package static let id: UInt32 = 93
    package var list: [Advertisement] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.messages(1, &list) }

    package struct Advertisement: ProtoMessage {
        package var address: UInt64 = 0
        /// In dBm.
        package var rssi = 0
        /// 0 and 2: public, 1 and 3: random.
        package var addressType: UInt32 = 0
        /// The advertisement, and behind it the scan response.
        package var data: [UInt8] = []

        package init() {}

        package mutating func visit(_ fields: inout some ProtoFields) {
            fields.number(1, &address)
            fields.zigzag(2, &rssi)
            fields.number(3, &addressType)
            fields.bytes(4, &data)
        }
    }
}

package struct ScannerState: APIMessage {
    package static let id: UInt32 = 126
    package static let running: UInt32 = 2
    package static let failed: UInt32 = 3
    package static let active: UInt32 = 1
    /// 0 idle, 1 starting, 2 running, 3 failed, 4 stopping, 5 stopped.
    package var state: UInt32 = 0
    /// 0 passive, 1 active.
    package var mode: UInt32 = 0
    package var configuredMode: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &state)
        fields.number(2, &mode)
        fields.number(3, &configuredMode)
    }
}

package struct SetScannerMode: APIMessage {
    package static let id: UInt32 = 127
    package var mode: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.number(1, &mode) }
}

package struct ConnectionsFree: APIMessage {
    package static let id: UInt32 = 81
    package var free: UInt32 = 0
    package var limit: UInt32 = 0
    package var allocated: [UInt64] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &free)
        fields.number(2, &limit)
        fields.numbers(3, &allocated)
    }
}
