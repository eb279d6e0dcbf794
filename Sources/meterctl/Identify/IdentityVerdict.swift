import BluetoothCore
import Domain
import FoundationEssentials
import GatewayAPI
import MeterCodec
import USBTransport

struct IdentityVerdict: Hashable {
    var given: GivenValue
    var model: ModelName?
    var maker: MeterMaker?
    /// Link over which meterd reads the meter, otherwise the link over which the device was found.
    var transport: String
    /// Reason for the verdict: a sentence without a full stop.
    var reason: String
}

/// Verdict of `meterctl identify --json`, also in a support bundle.
struct TakenFor: Codable, Hashable {
    /// Original row; nil in a support bundle.
    var given: GivenValue?
    @NullCodable var model: String?
    @NullCodable var family: String?
    var transport: String
    var reason: String

    init(_ verdict: IdentityVerdict, given: GivenValue? = nil) {
        self.given = given
        transport = verdict.transport
        reason = verdict.reason
        (model, family) = (verdict.model?.rawValue, verdict.maker?.rawValue)
    }
}

extension IdentityVerdict {
    init(_ row: IdentityRow, given: GivenValue, by catalogue: MeterCatalogue) {
        switch row.seenOn {
        case .usb: self.init(usb: row, given, catalogue)
        case .ble: self.init(radio: row, isClassic: false, given, catalogue)
        case .classic: self.init(radio: row, isClassic: true, given, catalogue)
        case nil:
            self.init(
                given: given, transport: "unknown",
                reason: "it says neither a USB vendor id (vid) nor anything of a radio (name, address, service_uuids)")
        }
    }

    private init(usb row: IdentityRow, _ given: GivenValue, _ catalogue: MeterCatalogue) {
        guard let device = row.usbDevice else {
            self.init(
                given: given, transport: "usb", reason: "its vendor id (vid) is not a hexadecimal number of 16 bits")
            return
        }
        let found = DeviceTable(of: catalogue).identify(device)
        self.init(given: given, transport: "usb", reason: found.sentence(of: device))
        switch found {
        case .meter(let model, let subsystem):
            self.model = model
            maker = model.maker
            transport = subsystem.transport.rawValue
        case .unread(let known), .stranger(let known): maker = known.maker
        case .unrecognised(let maker): self.maker = maker
        case .none: break
        }
    }

    private init(radio row: IdentityRow, isClassic: Bool, _ given: GivenValue, _ catalogue: MeterCatalogue) {
        let transport = isClassic ? LinkAddress.Transport.spp.rawValue : LinkAddress.Transport.ble.rawValue
        self.init(given: given, transport: transport, reason: "")
        let address = row.radioAddress(isClassic: isClassic)
        let name = row.visibleName
        if let address, !address.isIdentity {
            reason = "its address is not lasting, so that nothing could be remembered of it"
            return
        }
        let kind = address?.kind ?? (isClassic ? .classic : .lePublic)
        switch RadioIdentification(name: name, services: row.services, kind: kind, in: catalogue) {
        case .meter(let model):
            self.model = model
            maker = model.maker
            reason = "by its name, \(name ?? "")"
        case .perhaps(.makersName(let named)):
            maker = named
            reason = "its name is one of the maker's and tells no model; connecting finds out"
        case .perhaps(.modulesName):
            reason = "its name is that of a module in meters and in other things; connecting finds out"
        case .perhaps(.services):
            reason = "its services are those of modules in meters and in many other things; connecting finds out"
        case .none where name == nil && row.services.isEmpty:
            reason = "an address alone tells no model"
        case .none: reason = "neither its name nor its services are a meter's"
        }
        if kind != .leRandom, address?.address.hasGroupBit == true { reason += "; the group bit of its address is set" }
    }
}

extension USBIdentification {
    /// Returns the reason for the verdict, without a full stop.
    func sentence(of device: USBSelfDescription) -> String {
        switch self {
        case .meter: "by its USB ids, texts and interfaces"
        case .unread(let known): "\(known.name): \(known.reason)"
        case .stranger(let known): "\(known.name), no meter: \(known.reason)"
        case .unrecognised: "looks like a meter, not recognised: \(device.words), please report it"
        case .none: "nothing about it is a meter's"
        }
    }
}

extension USBSelfDescription {
    /// Ids and texts, such as `2e3c:5558 FNIRSI FNB-58`.
    var words: String {
        let ids = "\(vendor.fourHexDigits):\(product?.fourHexDigits ?? "*")"
        return ([ids] + texts).joined(separator: " ")
    }
}
