package import Domain
package import MeterCodec

/// Meter identified by its advertisement (Docs/Identities.md#over-the-air). Different models may advertise the same
/// name and services, so the first answer over a link decides.
package enum RadioIdentification: Hashable, Sendable {
    case meter(ModelName)
    /// A possible meter: connect to find out.
    case perhaps(Hint)
    case none

    package enum Hint: Hashable, Sendable {
        case makersName(MeterMaker)
        case modulesName
        case services
    }

    /// - Parameter name: nil if not received yet.
    package init(
        name: String?, services: [BluetoothUUID], kind: RadioAddress.Kind, in catalogue: MeterCatalogue = .standard
    ) {
        let radio: LinkAddress.Transport = kind.isLowEnergy ? .ble : .spp
        let short = Set(services.compactMap(\.short))
        // A long name may be hostile and take time to search. Meters' names are ASCII.
        if let name, name.utf8.count <= 32 {
            let advertised = AdvertisedName(name, over: radio, services: short)
            if let model = catalogue.families.firstNonNil({ $0.model(named: advertised) }) {
                self = .meter(model)
                return
            }
        }
        // LE only: over Classic, most other devices offer the same serial port as the meters.
        let hasModule = radio == .ble && !catalogue.radioServices.isDisjoint(with: short)
        let upper = name?.uppercased() ?? ""
        let maker = catalogue.families.first { $0.isMakersName(upper) }
        if let maker, hasModule || maker.makersNameRadio == radio {
            self = .perhaps(.makersName(maker.family.maker))
        } else if catalogue.families.contains(where: { $0.isModulesName(AdvertisedName(upper, over: radio)) }) {
            self = .perhaps(.modulesName)
        } else {
            self = hasModule ? .perhaps(.services) : .none
        }
    }
}

extension Sequence {
    fileprivate func firstNonNil<Result>(_ body: (Element) -> Result?) -> Result? {
        for element in self {
            if let result = body(element) { return result }
        }
        return nil
    }
}
