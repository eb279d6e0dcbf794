/// A meter's description of itself; nil for unreported values.
package struct DeviceInfo: Hashable, Sendable {
    package var model: ModelName?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var powerOnCount: Int?

    package init(
        model: ModelName? = nil, serial: String? = nil, firmware: String? = nil, hardware: String? = nil,
        powerOnCount: Int? = nil
    ) {
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
        self.powerOnCount = powerOnCount
    }
}
