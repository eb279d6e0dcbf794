package struct GATTDatabase: Hashable, Sendable {
    package var services: [GATTService]

    package init(services: [GATTService] = []) { self.services = services }

    /// Returns the first match: several services may have the same UUID.
    package func characteristic(_ uuid: BluetoothUUID, of service: BluetoothUUID) -> GATTCharacteristic? {
        for candidate in services where candidate.uuid == service {
            if let found = candidate.characteristics.first(where: { $0.uuid == uuid }) { return found }
        }
        return nil
    }

    var attributeCount: Int {
        services.reduce(services.count) { count, service in
            service.characteristics.reduce(count + service.characteristics.count) { $0 + $1.descriptors.count }
        }
    }
}

/// A primary service (Core Specification 5.4, vol 3 part G 3.1).
package struct GATTService: Hashable, Sendable {
    package var uuid: BluetoothUUID
    package var range: ATTHandleRange
    package var characteristics: [GATTCharacteristic]

    package init(uuid: BluetoothUUID, range: ATTHandleRange, characteristics: [GATTCharacteristic] = []) {
        self.uuid = uuid
        self.range = range
        self.characteristics = characteristics
    }
}

/// A characteristic (vol 3 part G 3.3).
package struct GATTCharacteristic: Hashable, Sendable {
    package var uuid: BluetoothUUID
    package var properties: GATTProperties
    package var declaration: UInt16
    /// Handle of the value, after the declaration.
    package var value: UInt16
    /// Last handle that belongs to the characteristic.
    package var end: UInt16
    package var descriptors: [ATTInformation]

    package init(
        uuid: BluetoothUUID, properties: GATTProperties, declaration: UInt16, value: UInt16, end: UInt16,
        descriptors: [ATTInformation] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.declaration = declaration
        self.value = value
        self.end = end
        self.descriptors = descriptors
    }

    /// Handle of the Client Characteristic Configuration, by which a client subscribes.
    package var subscription: UInt16? {
        descriptors.first { $0.type == .clientCharacteristicConfiguration }?.handle
    }
}

/// Allowed uses of a characteristic (vol 3 part G 3.3.1.1).
package struct GATTProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let broadcast = GATTProperties(rawValue: 0x01)
    package static let read = GATTProperties(rawValue: 0x02)
    package static let writeWithoutResponse = GATTProperties(rawValue: 0x04)
    package static let write = GATTProperties(rawValue: 0x08)
    package static let notify = GATTProperties(rawValue: 0x10)
    package static let indicate = GATTProperties(rawValue: 0x20)
    package static let signedWrite = GATTProperties(rawValue: 0x40)
    package static let extended = GATTProperties(rawValue: 0x80)
}

/// Subscription of a client to a characteristic (vol 3 part G 3.3.3.3).
package enum GATTSubscription: UInt16, Sendable {
    case notifications = 1
    case indications = 2

    package var bytes: [UInt8] { [UInt8(truncatingIfNeeded: rawValue), 0] }
}

extension BluetoothUUID {
    // Assigned Numbers, 3.5 and 3.6.
    package static let primaryService = BluetoothUUID(short: 0x2800)
    package static let characteristic = BluetoothUUID(short: 0x2803)
    package static let clientCharacteristicConfiguration = BluetoothUUID(short: 0x2902)
}
