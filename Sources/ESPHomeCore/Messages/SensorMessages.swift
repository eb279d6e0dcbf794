/// One of a node's sensors: `ListEntitiesSensorResponse`.
package struct SensorInfo: APIMessage {
    package static let id: UInt32 = 16
    /// Empty from firmware since 2026.1, which leaves it to the client to make it of the name.
    package var objectID = ""
    /// By which its states name it.
    package var key: UInt32 = 0
    /// Empty for the sensor that is called as its node.
    package var name = ""
    package var unit = ""
    package var deviceClass = ""
    /// 1: measurement, 2: a counter that only rises, 3: a total.
    package var stateClass: UInt32 = 0
    /// 0: what the node is for, 1: its configuration, 2: its own health.
    package var category: UInt32 = 0

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.text(1, &objectID)
        fields.fixed(2, &key)
        fields.text(3, &name)
        fields.text(6, &unit)
        fields.text(9, &deviceClass)
        fields.number(10, &stateClass)
        fields.number(13, &category)
    }
}

/// What a sensor measured: `SensorStateResponse`.
package struct SensorState: APIMessage {
    package static let id: UInt32 = 25
    package var key: UInt32 = 0
    package var state: Float = 0
    /// It has measured nothing yet.
    package var isMissing = false

    package init() {}

    package mutating func visit(_ fields: inout some ProtoFields) {
        fields.fixed(1, &key)
        fields.float(2, &state)
        fields.flag(3, &isMissing)
    }
}
