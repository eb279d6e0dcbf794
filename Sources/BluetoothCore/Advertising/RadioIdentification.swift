package import MeterCodec
package import MeterModel

/// Which meter is heard, from what it advertises (Docs/Identities.md#over-the-air). The first answer over a link has
/// the final say: radio modules share names and services.
package enum RadioIdentification: Hashable, Sendable {
    case meter(ModelName)
    /// Its services are those of modules used in meters, or its name is a maker's; connecting will tell.
    case perhaps
    case none

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
        let upper = name?.uppercased()
        let isMakersName = catalogue.families.contains { family in
            upper.map { family.makersNameRadio == radio && family.isMakersName($0) } ?? false
        }
        // Over Classic, the serial port that meters have is most other things', too.
        let hasModule = radio == .ble && !catalogue.radioServices.isDisjoint(with: short)
        self = isMakersName || hasModule ? .perhaps : .none
    }

    /// Whose meters have such a name, where it tells that much and no model; nil where it does not.
    package static func maker(named name: String, in catalogue: MeterCatalogue = .standard) -> MeterMaker? {
        let upper = name.uppercased()
        return catalogue.families.first { $0.isMakersName(upper) }?.family.maker
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
