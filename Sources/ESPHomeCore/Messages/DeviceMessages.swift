package import BluetoothCore

package enum ConnectionsFree: APIMessage {
    package static let id: UInt32 = 81
    package static let free = ProtoField.number(1)
    package static let limit = ProtoField.number(2)
    package static let allocated = ProtoField.numbers(3)
}

package enum DeviceRequest: APIMessage {
    package static let id: UInt32 = 68
    package static let disconnect: UInt32 = 1
    /// Request to connect. The proxy discovers the services itself, and ignores a stored list of them.
    package static let connect: UInt32 = 5
    package static let connectKnown: UInt32 = 4
    package static let address = ProtoField.wide(1)
    package static let kind = ProtoField.number(2)
    package static let hasAddressType = ProtoField.flag(3)
    package static let addressType = ProtoField.number(4)
}

package enum DeviceConnection: APIMessage {
    package static let id: UInt32 = 69
    package static let address = ProtoField.wide(1)
    package static let isConnected = ProtoField.flag(2)
    /// In bytes; 0 if the link already existed.
    package static let mtu = ProtoField.number(3)
    /// HCI reason, or error of the proxy's Bluetooth stack; 0 for none.
    package static let error = ProtoField.signed(4)
}

// MARK: Services

package enum GetServices: APIMessage {
    package static let id: UInt32 = 70
    package static let address = ProtoField.wide(1)
}

/// Some of a device's services, sorted by handle.
package enum ServicesFound: APIMessage {
    package static let id: UInt32 = 71
    package static let address = ProtoField.wide(1)
    package static let services: ProtoField<[ProtoMessage<FoundGATTService>]?> = .messages(2)
}

package enum ServicesDone: APIMessage {
    package static let id: UInt32 = 72
    package static let address = ProtoField.wide(1)
}

/// A service, characteristic or descriptor. Its UUID has two halves, the higher first, or a short form if this host
/// announced API 1.12 or later.
package protocol FoundAttribute: ProtoDescription {
    static var short: ProtoField<UInt32> { get }
}

extension FoundAttribute {
    private static var halves: ProtoField<[UInt64]?> { .numbers(1) }
    /// Handle of the attribute; in a characteristic, the handle of its value.
    package static var handle: ProtoField<UInt32> { .number(2) }

    package static func made(
        _ uuid: BluetoothUUID, isShort: Bool, handle: UInt16, _ change: (inout ProtoMessage<Self>) -> Void = { _ in }
    ) -> ProtoMessage<Self> {
        made {
            $0[Self.handle] = UInt32(handle)
            if isShort, let short = uuid.short {
                $0[Self.short] = UInt32(short)
            } else {
                $0[halves] = [uuid.high, uuid.low]
            }
            change(&$0)
        }
    }

    fileprivate static func uuid(of message: ProtoMessage<Self>) -> BluetoothUUID {
        if message[short] != 0 { return BluetoothUUID(short: message[short]) }
        let halves = message[halves] ?? []
        return halves.count == 2 ? BluetoothUUID(high: halves[0], low: halves[1]) : BluetoothUUID(high: 0, low: 0)
    }
}

extension ProtoMessage where Description: FoundAttribute {
    package var uuid: BluetoothUUID { Description.uuid(of: self) }
}

package enum FoundGATTService: FoundAttribute {
    package static let characteristics: ProtoField<[ProtoMessage<FoundCharacteristic>]?> = .messages(3)
    package static let short = ProtoField.number(4)
}

package enum FoundCharacteristic: FoundAttribute {
    package static let properties = ProtoField.number(3)
    package static let descriptors: ProtoField<[ProtoMessage<FoundDescriptor>]?> = .messages(4)
    package static let short = ProtoField.number(5)
}

package enum FoundDescriptor: FoundAttribute {
    package static let short = ProtoField.number(3)
}

// MARK: Attributes

package enum AttributeMessage: ProtoDescription {
    package enum Kind: UInt32, Sendable {
        case read = 73
        case readDone = 74
        case write = 75
        case writeDescriptor = 77
        case notify = 78
        case notified = 79
        case failed = 82
        case writeDone = 83
        case notifyDone = 84
    }

    package static let address = ProtoField.wide(1)
    package static let handle = ProtoField.number(2)
    /// Present in all messages with data except `write`.
    package static let data = ProtoField.bytes(3)
    /// Present only in `write`.
    package static let wantsResponse = ProtoField.flag(3)
    package static let written = ProtoField.bytes(4)
    /// Present only in `notify`.
    package static let isOn = ProtoField.flag(3)
    /// Present only in `failed`.
    package static let error = ProtoField.signed(3)

    package static let notConnected = -1
    /// The proxy's Bluetooth stack had no room and sent nothing (ESP-IDF: ESP_GATT_CONGESTED).
    package static let congested = 143

    package static func frame(
        _ kind: Kind, _ address: UInt64, _ handle: UInt32, _ change: (inout ProtoMessage<Self>) -> Void = { _ in }
    ) -> APIFrame {
        let message = made {
            ($0.address, $0.handle) = (address, handle)
            change(&$0)
        }
        return APIFrame(id: kind.rawValue, body: message.encoded)
    }

    package static func read(_ frame: APIFrame) -> (kind: Kind, message: ProtoMessage<Self>)? {
        guard let kind = Kind(rawValue: frame.id), let message = ProtoMessage<Self>(encoded: frame.body) else {
            return nil
        }
        return (kind, message)
    }
}
