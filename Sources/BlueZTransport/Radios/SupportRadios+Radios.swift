package import BluetoothCore
import Domain
package import GatewayAPI
import LinuxIO

extension SupportRadios {
    init(
        adapters: [PresentAdapter], sightings: RadioSightings, trace: [ManagementTrace.Entry], at now: MonotonicTime
    ) {
        let known = Set(sightings.heard.map(\.device.address))
        self.init(
            adapters: adapters.compactMap { $0.support },
            advertisements: sightings.heard.map { SupportRadios.Advertisement($0) },
            strangers: sightings.strangerCount,
            management: trace.map { entry in
                SupportRadios.Trace(
                    age_ms: (now - entry.time).milliseconds,
                    adapter: entry.index == ManagementPacket.noIndex ? nil : AdapterFiles.name(ofIndex: entry.index),
                    dir: entry.content.isCommand ? "out" : "in",
                    words: entry.content.words { known.contains($0.address) })
            })
    }
}

extension SupportRadios.Advertisement {
    package init(_ radio: HeardRadio) {
        self.init(
            address: radio.device.address.description, address_type: radio.device.kind.words, name: radio.name,
            rssi: radio.rssi, data: radio.data.map { Hex.encode($0) })
    }
}

extension PresentAdapter {
    fileprivate var support: SupportRadios.Adapter? {
        guard let info = machine.info else { return nil }
        let reset: String? =
            switch machine.chipReset {
            case .usbPort: "usb"
            case .serialDevice: "serial"
            case nil: nil
            }
        return SupportRadios.Adapter(
            address: info.address.description, name: name, manufacturer: Int(info.manufacturer),
            hci_version: Int(info.version), supported_settings: info.supported.hex, current_settings: info.current.hex,
            reset: reset)
    }
}

extension ControllerSettings {
    fileprivate var hex: String { "0x" + String(rawValue, radix: 16) }
}

extension ManagementTrace.Content {
    fileprivate var isCommand: Bool {
        if case .command = self { true } else { false }
    }
}

extension RadioAddress.Kind {
    fileprivate var words: String {
        switch self {
        case .classic: "classic"
        case .lePublic: "public"
        case .leRandom: "random"
        }
    }
}

extension GATTDatabase {
    var support: [SupportService] {
        services.map { service in
            SupportService(
                service: service.uuid.digits, handle: Int(service.range.first),
                characteristics: service.characteristics.map { characteristic in
                    SupportService.Characteristic(
                        uuid: characteristic.uuid.digits, handle: Int(characteristic.value),
                        properties: characteristic.properties.words,
                        cccd: characteristic.descriptors.isEmpty ? nil : characteristic.subscription != nil)
                })
        }
    }
}

extension GATTProperties {
    fileprivate var words: [String] {
        let names: [(GATTProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"), (.signedWrite, "signed write"),
            (.extended, "extended"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}

extension BluetoothUUID {
    fileprivate var digits: String {
        if let short { return short.fourHexDigits.uppercased() }
        return [high, low].map { half in
            let digits = String(half, radix: 16, uppercase: true)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
