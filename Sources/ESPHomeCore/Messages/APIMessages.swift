/// Message of ESPHome's API, as in `api.proto` of aioesphomeapi 46.23.0.
package protocol APIMessage: ProtoDescription {
    static var id: UInt32 { get }
}

extension ProtoDescription {
    package static func made(_ change: (inout ProtoMessage<Self>) -> Void) -> ProtoMessage<Self> {
        var message = ProtoMessage<Self>()
        change(&message)
        return message
    }
}

extension APIMessage {
    package static func read(_ frame: APIFrame) -> ProtoMessage<Self>? {
        frame.id == id ? ProtoMessage(encoded: frame.body) : nil
    }
}

extension ProtoMessage where Description: APIMessage {
    package var frame: APIFrame { APIFrame(id: Description.id, body: encoded) }
}

package enum HelloRequest: APIMessage {
    package static let id: UInt32 = 1
    package static let client = ProtoField.text(1)
    package static let major = ProtoField.number(2)
    package static let minor = ProtoField.number(3)
}

package enum HelloResponse: APIMessage {
    package static let id: UInt32 = 2
    package static let major = ProtoField.number(1)
    package static let minor = ProtoField.number(2)
    package static let server = ProtoField.text(3)
    package static let name = ProtoField.text(4)
}

/// Required by firmware before 2026.1, even without a password.
package enum AuthenticationRequest: APIMessage {
    package static let id: UInt32 = 3
    package static let password = ProtoField.text(1)
}

package enum AuthenticationResponse: APIMessage {
    package static let id: UInt32 = 4
    package static let isRefused = ProtoField.flag(1)
}

package enum DeviceInfoResponse: APIMessage {
    package static let id: UInt32 = 10
    package static let name = ProtoField.text(2)
    /// MAC address of the network interface: `AA:BB:CC:DD:EE:FF`.
    package static let mac = ProtoField.text(3)
    package static let version = ProtoField.text(4)
    package static let model = ProtoField.text(6)
    package static let friendlyName = ProtoField.text(13)
    package static let features = ProtoField.number(15)
    /// MAC address of the Bluetooth radio; empty in old firmware.
    package static let bluetoothMAC = ProtoField.text(18)
}

/// Bits as in `BluetoothProxyFeature` in aioesphomeapi's `model.py`.
package struct ProxyFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let activeConnections = ProxyFeatures(rawValue: 2)
    package static let remoteCaching = ProxyFeatures(rawValue: 4)
    package static let rawAdvertisements = ProxyFeatures(rawValue: 32)
}

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

// MARK: Sensors

/// ESPHome's message `ListEntitiesSensorResponse`.
package enum SensorInfo: APIMessage {
    package static let id: UInt32 = 16
    /// Empty in firmware since 2026.1; the client then derives it from the name.
    package static let objectID = ProtoField.text(1)
    package static let key = ProtoField.fixed(2)
    /// Empty if the sensor has the node's own name.
    package static let name = ProtoField.text(3)
    package static let unit = ProtoField.text(6)
    package static let deviceClass = ProtoField.text(9)
    /// 1: measurement, 2: a counter that only rises, 3: a total.
    package static let stateClass = ProtoField.number(10)
    /// Entity category. 0: none, 1: configuration, 2: diagnostic.
    package static let category = ProtoField.number(13)
}

/// ESPHome's message `SensorStateResponse`.
package enum SensorState: APIMessage {
    package static let id: UInt32 = 25
    package static let key = ProtoField.fixed(1)
    package static let state = ProtoField.float(2)
    package static let isMissing = ProtoField.flag(3)
}

// MARK: Search

package enum SubscribeAdvertisements: APIMessage {
    package static let id: UInt32 = 66
    /// 1: raw advertisements, as received over the air.
    package static let flags = ProtoField.number(1)
}

package enum RawAdvertisements: APIMessage {
    package static let id: UInt32 = 93
    package static let list: ProtoField<[ProtoMessage<RawAdvertisement>]?> = .messages(1)
}

package enum RawAdvertisement: ProtoDescription {
    package static let address = ProtoField.wide(1)
    /// In dBm.
    package static let rssi = ProtoField.zigzag(2)
    /// 0 and 2: public, 1 and 3: random.
    package static let addressType = ProtoField.number(3)
    /// The advertisement, followed by the scan response.
    package static let data = ProtoField.bytes(4)
}

package enum ScannerState: APIMessage {
    package static let id: UInt32 = 126
    package static let running: UInt32 = 2
    package static let failed: UInt32 = 3
    package static let active: UInt32 = 1
    /// 0 idle, 1 starting, 2 running, 3 failed, 4 stopping, 5 stopped.
    package static let state = ProtoField.number(1)
    /// 0 passive, 1 active.
    package static let mode = ProtoField.number(2)
    package static let configuredMode = ProtoField.number(3)
}

package enum SetScannerMode: APIMessage {
    package static let id: UInt32 = 127
    package static let mode = ProtoField.number(1)
}
