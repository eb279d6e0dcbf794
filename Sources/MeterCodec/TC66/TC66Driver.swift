package import Domain

/// Driver of a TC66 or TC66C. The meter answers `getva` with three encrypted packets, and never answers page commands
/// (Docs/Protocols/TC66.md#links). The driver never sends `update`, which would start the bootloader.
package struct TC66Driver: MeterDriver {
    package let profile: MeterProfile
    private let link: TC66Link
    private var decoder: TC66Decoder

    package init(model: ModelName, over link: TC66Link = .usb, temperatureUnit: TemperatureUnit = .celsius) {
        self.link = link
        profile = Self.profile(of: model, over: link)
        decoder = TC66Decoder(temperatureUnit: temperatureUnit)
    }

    /// Sends `query` over USB to detect a meter in its bootloader, which answers only this request. No known program
    /// sends it over the radio.
    package mutating func opening() -> [Outgoing] {
        decoder.forgetGroups()
        return switch link {
        case .usb: [Outgoing(TC66Request.query.bytes, pause: .milliseconds(100))]
        case .ble: []
        }
    }

    package mutating func poll() -> [UInt8] { TC66Request.values.bytes(over: link) }

    /// Reports the answer `firm` as acknowledged and `boot` as rejected, because neither contains a measurement.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            switch event {
            case .frame(.tc66(.mode(.firmware))): handle(.acknowledged)
            case .frame(.tc66(.mode(.boot))): handle(.rejected)
            default: handle(event)
            }
        }
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        try profile.validate(command)
        return switch command.kind {
        case .nextScreen: TC66Request.nextPage.bytes(over: link)
        case .previousScreen: TC66Request.previousPage.bytes(over: link)
        case .rotate: TC66Request.rotate.bytes(over: link)
        default: throw .unsupportedCommand(command.kind, model: profile.model)
        }
    }

    package mutating func discardPartial() -> Int { decoder.reset() }

    package var temperatureUnit: TemperatureUnit {
        get { decoder.temperatureUnit }
        set { decoder.temperatureUnit = newValue }
    }

    /// Returns the profile, with intervals from Docs/Protocols/TC66.md#links. The meter updates its values every 80 to
    /// 100 ms; no known program polls faster than every 100 ms. An answer takes less than 200 ms over USB, and 0.5 or
    /// 0.8 s over the radio.
    private static func profile(of model: ModelName, over link: TC66Link) -> MeterProfile {
        let shortest: Duration = link == .usb ? .milliseconds(100) : .milliseconds(500)
        return MeterProfile(
            model: model,
            rhythm: .poll(interval: link == .usb ? .milliseconds(500) : .seconds(1), shortest: shortest),
            answerTimeout: link == .usb ? .seconds(1) : .seconds(3),
            commandSpacing: link == .usb ? .milliseconds(100) : .milliseconds(200),
            baudRate: 115_200,
            commands: [.init(.nextScreen), .init(.previousScreen), .init(.rotate)]
        )
    }
}

/// Kind of link, which determines the form of requests (Docs/Protocols/TC66.md#links).
package enum TC66Link: Hashable, Sendable {
    case usb
    case ble

    package init(_ transport: LinkAddress.Transport) { self = transport == .ble ? .ble : .usb }
}

/// All requests that this gateway sends to a TC66. The raw value is the text sent over USB.
package enum TC66Request: String, CaseIterable, Sendable {
    case query
    case values = "getva"
    case recording = "gtrec"
    case nextPage = "nextp"
    case previousPage = "lastp"
    case rotate = "rotat"

    package var bytes: [UInt8] { bytes(over: .usb) }

    /// Returns the bytes of the request. Over the radio it starts with `b` and ends with CR LF.
    package func bytes(over link: TC66Link) -> [UInt8] {
        switch link {
        case .usb: Array(rawValue.utf8)
        case .ble: Array("b\(rawValue)\r\n".utf8)
        }
    }

    package static func known(over link: TC66Link) -> [TC66Request] {
        switch link {
        case .usb: allCases
        case .ble: [.values, .nextPage, .previousPage, .rotate]
        }
    }
}
