package import Domain
package import MeterCodec

/// Which meter is heard, from what it advertises (Docs/Identities.md#over-the-air). The first answer over a link has
/// the final say: radio modules share names and services.
package enum RadioIdentification: Hashable, Sendable {
    case meter(ModelName)
    /// It may be a meter; connecting will tell.
    case perhaps(Hint)
    case none

    /// Why something may be a meter.
    package enum Hint: Hashable, Sendable {
        /// Its name is one of the maker's.
        case makersName(MeterMaker)
        /// Its name is that of a module used in meters.
        case modulesName
        /// Its services are those of modules used in meters.
        case services
    }

    /// - Parameters:
    ///   - name: its name, if heard yet.
    ///   - kind: the radio that heard it.
    package init(
        name: String?, services: [BluetoothUUID], kind: RadioAddress.Kind, in catalogue: MeterCatalogue = .standard
    ) {
        let radio: LinkAddress.Transport = kind.isLowEnergy ? .ble : .spp
        let short = Set(services.compactMap(\.short))
        // Names are ASCII; the length keeps a hostile one from being searched.
        if let name, name.utf8.count <= 32 {
            let advertised = AdvertisedName(name, over: radio, services: short)
            if let model = catalogue.families.firstNonNil({ $0.model(named: advertised) }) {
                self = .meter(model)
                return
            }
        }
        // Over Classic, the serial port that meters have is most other things', too.
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
