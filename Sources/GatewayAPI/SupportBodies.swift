/// `GET /v1/support`: diagnostics about missing or silent meters.
package struct SupportBody: Codable, Hashable, Sendable {
    package var meters: [SupportMeter]
    /// Null if this host uses no radios.
    @NullCodable package var radios: SupportRadios?

    package init(meters: [SupportMeter], radios: SupportRadios?) {
        self.meters = meters
        self.radios = radios
    }
}

package struct SupportMeter: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    package var state: String
    @NullCodable package var transport: String?
    /// Oldest first.
    package var transitions: [Transition]
    /// GATT services found over the last Bluetooth LE link; null without such a link.
    @NullCodable package var gatt: [SupportService]?
    /// Traffic of the last link until its first reading; empty afterwards.
    package var traffic: [Traffic]

    package struct Transition: Codable, Hashable, Sendable {
        package var age_ms: Int64
        package var from: String
        package var to: String
        package var cause: String

        package init(age_ms: Int64, from: String, to: String, cause: String) {
            self.age_ms = age_ms
            self.from = from
            self.to = to
            self.cause = cause
        }
    }

    package struct Traffic: Codable, Hashable, Sendable {
        package var age_ms: Int64
        /// `in`: from the meter. `out`: to the meter.
        package var dir: String
        package var hex: String
        /// Number of bytes; `hex` may contain only the first ones.
        package var bytes: Int

        package init(age_ms: Int64, dir: String, hex: String, bytes: Int) {
            self.age_ms = age_ms
            self.dir = dir
            self.hex = hex
            self.bytes = bytes
        }
    }

    package init(
        id: String, model: String?, state: String, transport: String?, transitions: [Transition] = [],
        gatt: [SupportService]? = nil, traffic: [Traffic] = []
    ) {
        self.id = id
        self.model = model
        self.state = state
        self.transport = transport
        self.transitions = transitions
        self.gatt = gatt
        self.traffic = traffic
    }
}

/// A service of a Bluetooth LE meter. Characteristics are listed only if they may carry the meter's serial data.
package struct SupportService: Codable, Hashable, Sendable {
    /// Four hexadecimal digits, or the whole UUID.
    package var service: String
    /// First attribute handle of the service.
    package var handle: Int
    package var characteristics: [Characteristic]

    package struct Characteristic: Codable, Hashable, Sendable {
        package var uuid: String
        /// Attribute handle of the value.
        package var handle: Int
        package var properties: [String]
        /// Whether there is a descriptor for subscribing (CCCD); null if meterd did not search for one.
        @NullCodable package var cccd: Bool?

        package init(uuid: String, handle: Int, properties: [String], cccd: Bool?) {
            self.uuid = uuid
            self.handle = handle
            self.properties = properties
            self.cccd = cccd
        }
    }

    package init(service: String, handle: Int, characteristics: [Characteristic]) {
        self.service = service
        self.handle = handle
        self.characteristics = characteristics
    }
}
