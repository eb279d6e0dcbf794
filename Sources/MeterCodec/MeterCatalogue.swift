package import MeterModel

/// The families of meters that a program knows, and what follows from them: who speaks to which model over which link,
/// and which decoder reads bytes that a person names a model for.
package struct MeterCatalogue: Sendable {
    package let families: [any FamilyDescription]
    package let models: [ModelName]
    /// 16-bit names of the services of all modules that its meters have.
    package let radioServices: Set<UInt16>

    /// - Parameter families: in the order in which people read them.
    package init(families: [any FamilyDescription]) {
        self.families = families
        models = families.flatMap(\.models)
        radioServices = families.flatMap(\.radioModules).reduce(into: []) { $0.formUnion($1.services) }
    }

    /// The one list of families. MeterSimulator has the one of their simulators.
    package static let standard = MeterCatalogue(families: [
        UMFamily(), TC66Family(), FNIRSIFamily(), KM003CFamily(), AtorchFamily(),
    ])

    package subscript(_ family: MeterFamily) -> (any FamilyDescription)? {
        families.first { $0.family == family }
    }

    // MARK: Models

    /// The model of a name in any case: `UM25C` and `um25c` are one.
    package func model(named text: some StringProtocol) -> ModelName? {
        let name = text.lowercased()
        return models.first { $0.rawValue == name }
    }

    // MARK: Drivers

    /// A driver for one link to a meter of a model; nil where the model has no such link, or none that is spoken here.
    package func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)? {
        self[model.family]?.driver(for: model, over: transport)
    }

    /// The driver of a model over the first kind of link that it has: for what does not depend on the link.
    package func driver(for model: ModelName) -> (any MeterDriver)? {
        transports(of: model).first.flatMap { driver(for: model, over: $0) }
    }

    /// The kinds of link to a model that are spoken here, serial first.
    package func transports(of model: ModelName) -> [LinkAddress.Transport] {
        LinkAddress.Transport.allCases.filter { driver(for: model, over: $0) != nil }
    }

    /// The models that can be read over a kind of link.
    package func models(over transport: LinkAddress.Transport) -> [ModelName] {
        models.filter { driver(for: $0, over: transport) != nil }
    }

    // MARK: Decoders

    /// The names that `meterctl decode --model` takes (Docs/CommandLine.md#meters).
    package var decoderNames: [String] { families.flatMap(\.decoders).map(\.name) }

    /// A decoder by the name that a person types, or nil for a name that no decoder has.
    ///
    /// - Parameter enforcingChecks: false takes frames with a wrong check sum where their shape is right.
    package func decoder(named name: String, enforcingChecks: Bool = true) -> (any FrameDecoder)? {
        let name = name.lowercased()
        return families.flatMap(\.decoders).first { $0.name == name }?.make(enforcingChecks)
    }

    // MARK: Radios

    /// What a radio counts as whose meter nobody knows yet.
    package var commonest: ModelName { .um25c }

    /// The families of which some meter is read over a radio.
    package func families(over radio: LinkAddress.Transport) -> Set<MeterFamily> {
        Set(models(over: radio).map(\.family))
    }

    /// The families that share a module with one: those that characteristics do not rule out.
    package func families(alike family: MeterFamily) -> Set<MeterFamily> {
        (self[family]?.radioModules ?? []).reduce(into: []) { $0.formUnion(families(behind: $1)) }
    }

    /// The families whose meters have such a module.
    package func families(behind module: RadioModule) -> Set<MeterFamily> {
        Set(families.filter { $0.radioModules.contains(module) }.map(\.family))
    }

    // MARK: Logs

    /// The models that record by themselves.
    package var modelsWithLogs: [ModelName] { families.flatMap(\.modelsWithLogs) }

    /// Reads what a meter recorded by itself; nil for a model that does not.
    package func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? {
        self[model.family]?.logTransfer(wish, from: model)
    }
}
