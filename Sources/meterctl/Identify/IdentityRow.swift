import BluetoothCore
import Domain
import FoundationEssentials
import MeterCodec
import USBTransport

/// A device's description of itself as JSON, in fixtures (Tests/Identities) and reports. Missing and null keys mean
/// unknown. Other keys are ignored.
struct IdentityRow: Decodable {
    /// `usb`, `ble` or `classic`; nil if the other JSON keys determine it.
    var bus: String?
    /// The owner's name for the device. The verdict ignores it.
    var meter: String?
    var vid: String?
    /// Product id in hex; `*` if unknown.
    var pid: String?
    var manufacturer: String?
    var product: String?
    var config_descriptor_hex: String?
    var interfaces: [Interface]?
    /// `tty` or `hidraw`, if the device has only one kind of node.
    var subsystem: String?
    /// Name under /dev/serial/by-id, which udev makes from the device's strings.
    var by_id: String?
    var name: String?
    var address: String?
    var address_type: String?
    var adv_hex: String?
    var scan_response_hex: String?
    var service_uuids: [String]?
    var gatt: [Service]?
    var class_of_device: Unread?
    var rfcomm_channel: Unread?
    var pin: Unread?
    var sdp: Unread?

    struct Interface: Decodable {
        var `class`: String?
        var subclass: String?
        /// Kernel driver, such as `cdc_acm`.
        var driver: String?
    }

    struct Service: Decodable {
        var service: String?
    }

    /// A JSON value of which only the presence matters, so it is not decoded.
    struct Unread: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    enum Bus {
        case usb, ble, classic
    }

    /// Kind of link over which the device was found; nil if unknown.
    var seenOn: Bus? {
        switch bus {
        case "usb": .usb
        case "ble": .ble
        case "classic", "spp": .classic
        case .some: nil
        case nil where vid != nil: .usb
        case nil where adv_hex != nil || address_type != nil || service_uuids != nil || gatt != nil: .ble
        case nil where name != nil || address != nil || pin != nil || rfcomm_channel != nil: .classic
        case nil: nil
        }
    }
}

/// A row in its original form, printed beside its verdict.
enum GivenValue: Codable, Hashable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([GivenValue])
    case object([String: GivenValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {  // Of another type: try the next.
            self = .flag(flag)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([GivenValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: GivenValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension IdentityRow {
    /// The device as described over USB; nil if its vendor id is malformed.
    var usbDevice: USBSelfDescription? {
        guard let vendor = vid.flatMap({ UInt16($0, radix: 16) }) else { return nil }
        let shown = shownInterfaces
        var nodes = Swift.Set((interfaces ?? []).compactMap(\.node))
        if let shown { nodes.formUnion(shown.compactMap(\.node)) }
        // Without a descriptor, the list of interfaces may be incomplete, so assume both kinds of node.
        if nodes.isEmpty, config_descriptor_hex == nil { nodes = Swift.Set(USBIdentity.Subsystem.ofInterfaces) }
        if let only = subsystem.flatMap({ USBIdentity.Subsystem(rawValue: $0) }) { nodes = [only] }
        return USBSelfDescription(
            vendor: vendor, product: pid.flatMap { UInt16($0, radix: 16) }, manufacturerText: manufacturer,
            productText: product ?? by_id, interfaces: shown, nodes: nodes)
    }

    private var shownInterfaces: [USBSelfDescription.Interface]? {
        if let bytes = config_descriptor_hex.flatMap({ Hex.decode($0) }) {
            return USBSelfDescription.interfaces(inConfiguration: bytes)
        }
        let listed = (interfaces ?? []).compactMap { interface in
            interface.class.flatMap { UInt8($0, radix: 16) }.map {
                USBSelfDescription.Interface($0, interface.subclass.flatMap { UInt8($0, radix: 16) })
            }
        }
        return listed.isEmpty ? nil : listed
    }

    var advertised: AdvertisingData {
        let parts = [adv_hex, scan_response_hex].compactMap { $0.flatMap { Hex.decode($0) } }
        return AdvertisingData(Array(parts.joined()))
    }

    var visibleName: String? {
        if let heard = advertised.name?.text { return heard }
        guard let name else { return nil }
        return Array(name.utf8).withUnsafeBytes { DeviceName($0, isComplete: true)?.text }
    }

    var services: [BluetoothUUID] {
        let written = (service_uuids ?? []) + (gatt ?? []).compactMap(\.service)
        return advertised.services
            + written.compactMap { $0.count == 4 ? UInt32($0, radix: 16).map { BluetoothUUID(short: $0) } : nil }
    }

    func radioAddress(isClassic: Bool) -> RadioAddress? {
        guard let address = address.flatMap({ MACAddress($0) }) else { return nil }
        if isClassic { return RadioAddress(address, .classic) }
        return RadioAddress(address, address_type?.hasPrefix("random") == true ? .leRandom : .lePublic)
    }
}

extension IdentityRow.Interface {
    fileprivate var node: USBIdentity.Subsystem? {
        if let driver, ["cdc_acm", "ch341", "cp210x", "ftdi_sio", "pl2303"].contains(driver) { return .tty }
        if driver == "usbhid" { return .hidraw }
        return self.class.flatMap { UInt8($0, radix: 16) }.flatMap { USBSelfDescription.Interface($0).node }
    }
}
