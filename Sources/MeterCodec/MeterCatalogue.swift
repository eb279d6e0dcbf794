package import Domain

/// Supported families of meters, with their drivers and decoders.
package struct MeterCatalogue: Sendable {
    package let families: [any FamilyDescription]
    package let models: [ModelName]
    /// 16-bit UUIDs of the Bluetooth services of all radio modules.
    package let radioServices: Set<UInt16>

    /// Descriptions of models that users added (`adding`), by model name.
    let descriptions: [String: [String: DescriptionValue]]

    /// - Parameter families: in display order.
    package init(families: [any FamilyDescription]) {
        self.init(families: families, descriptions: [:])
    }

    init(families: [any FamilyDescription], descriptions: [String: [String: DescriptionValue]]) {
        self.families = families
        self.descriptions = descriptions
        models = families.flatMap(\.models)
        radioServices = families.flatMap(\.radioModules).reduce(into: []) { $0.formUnion($1.services) }
    }

    package static let standard = MeterCatalogue(families: [
        UMFamily(), TC66Family(), FNIRSIFamily(), KM003CFamily(), AtorchFamily(), WITRNFamily(),
        CT3Family(), ZY1280Family(), KM001Family(), ACD15PFamily(), FL001Family(), PPK2Family(), SmartPlugFamily(),
        GenericFamily(),
    ])

    /// Returns the catalogue with meters that may supply up to this voltage, in millivolts.
    package func supplying(upTo voltageMax: Int) -> MeterCatalogue {
        MeterCatalogue(
            families: families.map { $0.family == .ppk2 ? PPK2Family(voltageMax: voltageMax) : $0 },
            descriptions: descriptions)
    }

    package subscript(_ family: MeterFamily) -> (any FamilyDescription)? {
        families.first { $0.family == family }
    }

    // MARK: Models

    /// Returns the model with this name, ignoring case.
    package func model(named text: some StringProtocol) -> ModelName? {
        let name = text.lowercased()
        return models.first { $0.rawValue == name }
    }

    // MARK: Drivers

    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        self[model.family]?.driver(for: model, over: transport)
    }

    /// Returns a driver for the first kind of link that the model supports, for uses that do not depend on the link.
    package func driver(for model: ModelName) -> (any MeterDriver)? {
        transports(of: model).first.flatMap { driver(for: model, over: $0) }
    }

    /// Returns the kinds of link that the model supports, serial first.
    package func transports(of model: ModelName) -> [LinkAddress.Transport] {
        LinkAddress.Transport.allCases.filter { driver(for: model, over: $0) != nil }
    }

    package func models(over transport: LinkAddress.Transport) -> [ModelName] {
        models.filter { driver(for: $0, over: transport) != nil }
    }

    // MARK: Ranges

    /// Returns, for each quantity that has a range in all these models, a range that covers all of them. For a model
    /// without a power range, the product of its highest voltage and current counts.
    package func ranges(of models: [ModelName]) -> [Quantity: ClosedRange<Double>] {
        let all = models.map { model in
            var ranges = self[model.family]?.ranges(of: model) ?? [:]
            if ranges[.power] == nil, let voltage = ranges[.voltage], let current = ranges[.current] {
                let most =
                    max(abs(voltage.lowerBound), voltage.upperBound) * max(abs(current.lowerBound), current.upperBound)
                ranges[.power] = -most...most
            }
            return ranges
        }
        guard let first = all.first else { return [:] }
        return all.dropFirst().reduce(first) { widest, ranges in
            widest.reduce(into: [:]) { both, entry in
                guard let other = ranges[entry.key] else { return }
                both[entry.key] =
                    min(entry.value.lowerBound, other.lowerBound)...max(entry.value.upperBound, other.upperBound)
            }
        }
    }

    package func models(vendor: UInt16, product: UInt16) -> [ModelName] {
        families.flatMap(\.usbDevices).filter { $0.vendor == vendor && $0.product ?? product == product }.map(\.model)
    }

    // MARK: Decoders

    /// Names that `meterctl decode --model` accepts (Docs/CommandLine.md#meters).
    package var decoderNames: [String] { families.flatMap(\.decoders).map(\.name) }

    /// Returns the decoder of this name, ignoring case.
    ///
    /// - Parameter enforcingChecks: if false, accepts wrong checksums.
    package func decoder(named name: String, enforcingChecks: Bool = true) -> (any FrameDecoder)? {
        let name = name.lowercased()
        return families.flatMap(\.decoders).first { $0.name == name }?.make(enforcingChecks)
    }

    // MARK: Radios

    /// Model assumed for a radio link until the gateway has identified the meter.
    var commonest: ModelName { .um25c }

    package func families(over radio: LinkAddress.Transport) -> Set<MeterFamily> {
        Set(models(over: radio).map(\.family))
    }

    /// Returns all families with a radio module of this family. Bluetooth characteristics cannot distinguish them.
    package func families(alike family: MeterFamily) -> Set<MeterFamily> {
        (self[family]?.radioModules ?? []).reduce(into: []) { $0.formUnion(families(behind: $1)) }
    }

    package func families(behind module: RadioModule) -> Set<MeterFamily> {
        Set(families.filter { $0.radioModules.contains(module) }.map(\.family))
    }

    // MARK: Logs

    package var modelsWithLogs: [ModelName] { families.flatMap(\.modelsWithLogs) }

    package func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? {
        self[model.family]?.logTransfer(wish, from: model)
    }

    // MARK: USB Power Delivery

    package var modelsHearingPD: [ModelName] { families.flatMap(\.modelsHearingPD) }
}
