/// What a meter says of itself. Whatever it does not say is nil.
package struct DeviceInfo: Hashable, Sendable {
    /// The model as far as the bytes tell it.
    package var model: ModelName?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    /// How often the meter has been switched on.
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
