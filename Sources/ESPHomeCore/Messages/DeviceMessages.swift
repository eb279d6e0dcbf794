package import BluetoothCore

/// A request about a device's link.
package struct DeviceRequest: APIMessage {
    package static let id: UInt32 = 68
    package static let disconnect: UInt32 = 1
    /// With the proxy's own search for services, and without what it has stored of them.
    package static let connect: UInt32 = 5
    /// For hosts that know the services already.
    package static let connectKnown: UInt32 = 4
    package var address: UInt64 = 0
    package var type: UInt32 = 0
    package var hasAddressType = false
    package var addressType: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &address)
        fields.number(2, &type)
        fields.flag(3, &hasAddressType)
        fields.number(4, &addressType)
    }
}

package struct DeviceConnection: APIMessage {
    package static let id: UInt32 = 69
    package var address: UInt64 = 0
    package var isConnected = false
    /// 0 if the link was there already.
    package var mtu: UInt32 = 0
    /// A reason of HCI or of the proxy's own stack; 0 if it gives none.
    package var error = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &address)
        fields.flag(2, &isConnected)
        fields.number(3, &mtu)
        fields.number(4, &error)
    }
}

package struct GetServices: APIMessage {
    package static let id: UInt32 = 70
    package var address: UInt64 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.number(1, &address) }
}

package struct ServicesDone: APIMessage {
    package static let id: UInt32 = 72
    package var address: UInt64 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { fields.number(1, &address) }
}

/// Some of a device's services, in the order of their handles.
package struct ServicesFound: APIMessage {
    package static let id: UInt32 = 71
    package var address: UInt64 = 0
    package var services: [Service] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &address)
        fields.messages(2, &services)
    }

    package struct Service: ProtoMessage {
        package var name = ProxyUUID()
        package var handle: UInt32 = 0
        package var characteristics: [Characteristic] = []

        package init() {}

        package mutating func visit(_ fields: inout some ProtoFields) {
            name.visit(&fields, short: 4)
            fields.number(2, &handle)
            fields.messages(3, &characteristics)
        }
    }

    package struct Characteristic: ProtoMessage {
        package var name = ProxyUUID()
        /// Of its value.
        package var handle: UInt32 = 0
        package var properties: UInt32 = 0
        package var descriptors: [Descriptor] = []

        package init() {}

        package mutating func visit(_ fields: inout some ProtoFields) {
            name.visit(&fields, short: 5)
            fields.number(2, &handle)
            fields.number(3, &properties)
            fields.messages(4, &descriptors)
        }
    }

    package struct Descriptor: ProtoMessage {
        package var name = ProxyUUID()
        package var handle: UInt32 = 0

        package init() {}

        package mutating func visit(_ fields: inout some ProtoFields) {
            name.visit(&fields, short: 3)
            fields.number(2, &handle)
        }
    }
}

/// A UUID as a proxy sends it: two halves, or a short form where the host has announced API 1.12 or later.
package struct ProxyUUID: Hashable, Sendable {
    /// The higher half first; empty for a short one.
    package var halves: [UInt64] = []
    package var short: UInt32 = 0

    package init() {}

    package init(_ uuid: BluetoothUUID, isShort: Bool) {
        if isShort, let short = uuid.short {
            self.short = UInt32(short)
        } else {
            halves = [uuid.high, uuid.low]
        }
    }

    mutating func visit(_ fields: inout some ProtoFields, short field: Int) {
        fields.numbers(1, &halves)
        fields.number(field, &short)
    }

    package var uuid: BluetoothUUID {
        if short != 0 { return BluetoothUUID(short: short) }
        return halves.count == 2 ? BluetoothUUID(high: halves[0], low: halves[1]) : BluetoothUUID(high: 0, low: 0)
    }
}

/// What requests about an attribute and their answers have in common.
package struct AttributeTarget: ProtoMessage {
    package var address: UInt64 = 0
    package var handle: UInt32 = 0

    package init() {}

    package init(_ address: UInt64, _ handle: UInt32) {
        self.address = address
        self.handle = handle
    }

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.number(1, &address)
        fields.number(2, &handle)
    }
}

package struct ReadRequest: APIMessage {
    package static let id: UInt32 = 73
    package var target = AttributeTarget()

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { target.visit(&fields) }
}

/// A value that was read: `ReadResponse`, 74.
package struct ReadResponse: APIMessage {
    package static let id: UInt32 = 74
    package var target = AttributeTarget()
    package var data: [UInt8] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.bytes(3, &data)
    }
}

package struct WriteRequest: APIMessage {
    package static let id: UInt32 = 75
    package var target = AttributeTarget()
    package var wantsResponse = false
    package var data: [UInt8] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.flag(3, &wantsResponse)
        fields.bytes(4, &data)
    }
}

package struct WriteDescriptorRequest: APIMessage {
    package static let id: UInt32 = 77
    package var target = AttributeTarget()
    package var data: [UInt8] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.bytes(3, &data)
    }
}

package struct NotifyRequest: APIMessage {
    package static let id: UInt32 = 78
    package var target = AttributeTarget()
    package var isOn = false

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.flag(3, &isOn)
    }
}

package struct NotifyData: APIMessage {
    package static let id: UInt32 = 79
    package var target = AttributeTarget()
    package var data: [UInt8] = []

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.bytes(3, &data)
    }
}

package struct GATTError: APIMessage {
    package static let id: UInt32 = 82
    /// There is no link.
    package static let notConnected = -1
    /// The proxy's stack has no room: nothing was sent (ESP-IDF: ESP_GATT_CONGESTED).
    package static let congested = 143
    package var target = AttributeTarget()
    package var error = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        target.visit(&fields)
        fields.number(3, &error)
    }
}

/// A write is done, of a value or a descriptor.
package struct WriteResponse: APIMessage {
    package static let id: UInt32 = 83
    package var target = AttributeTarget()

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { target.visit(&fields) }
}

package struct NotifyResponse: APIMessage {
    package static let id: UInt32 = 84
    package var target = AttributeTarget()

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) { target.visit(&fields) }
}
