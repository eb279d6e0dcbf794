package import MeterModel

/// Everything that belongs to a family of meters beyond its bytes: one value, in the folder of the family. To list it in
/// `MeterCatalogue.standard` makes its meters known everywhere.
///
/// Only the first four are asked of every family. What a family does not say is as for most.
package protocol FamilyDescription: Sendable {
    var family: MeterFamily { get }
    /// In the order in which people read them.
    var models: [ModelName] { get }
    /// A driver for one link to one of the models; nil where it has no such link, or none that is spoken here.
    func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)?
    /// Whoever reads captured bytes, by the names that a person types (Docs/CommandLine.md#meters).
    var decoders: [NamedDecoder] { get }

    /// The USB devices that are its meters.
    var usbDevices: [USBIdentity] { get }
    /// What USB tells of its maker beyond those; nil where it tells nothing.
    var usbMaker: USBMaker? { get }

    /// The model of a meter that calls itself so over the air (Docs/Identities.md#over-the-air).
    func model(named name: AdvertisedName) -> ModelName?
    /// Whether such a name is one of the maker's, where it tells no model.
    ///
    /// - Parameter name: in capitals.
    func isMakersName(_ name: String) -> Bool
    /// The radio over which the maker's name alone is worth connecting.
    var makersNameRadio: LinkAddress.Transport? { get }
    /// Those in its meters.
    var radioModules: Set<RadioModule> { get }
    /// How its meters are told where names do not; nil for a family without a radio.
    var radioQuestion: RadioQuestion? { get }
    /// A meter has an address for LE and one for Classic, which differ in the group bit alone.
    var hasTwinAddresses: Bool { get }

    /// The models that record by themselves, in the order in which people read them.
    var modelsWithLogs: [ModelName] { get }
    /// Reads what such a model recorded.
    func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)?
}

extension FamilyDescription {
    package var usbDevices: [USBIdentity] { [] }
    package var usbMaker: USBMaker? { nil }
    package func model(named name: AdvertisedName) -> ModelName? { nil }
    package func isMakersName(_ name: String) -> Bool { false }
    package var makersNameRadio: LinkAddress.Transport? { nil }
    package var radioModules: Set<RadioModule> { [] }
    package var radioQuestion: RadioQuestion? { nil }
    package var hasTwinAddresses: Bool { false }
    package var modelsWithLogs: [ModelName] { [] }
    package func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? { nil }
}

/// A decoder and the name that a person types for it.
package struct NamedDecoder: Sendable {
    /// Lower case.
    package var name: String
    package var make: @Sendable (_ enforcingChecks: Bool) -> any FrameDecoder

    package init(_ name: String, _ make: @escaping @Sendable (_ enforcingChecks: Bool) -> any FrameDecoder) {
        self.name = name
        self.make = make
    }
}

/// What a radio calls itself.
package struct AdvertisedName: Hashable, Sendable {
    /// In capitals.
    package var text: String
    /// `ble` or `spp`: by which it is heard.
    package var radio: LinkAddress.Transport
    /// 16-bit names of the services that it announces.
    package var services: Set<UInt16>

    package init(_ text: String, over radio: LinkAddress.Transport, services: Set<UInt16> = []) {
        self.text = text.uppercased()
        self.radio = radio
        self.services = services
    }
}

/// How meters of a family are told over a radio by what they say (Docs/Protocols/Identification.md).
package struct RadioQuestion: Sendable {
    /// What is sent, a step after another; an empty one is left to a slow answer. None at all for meters that push.
    package var steps: [[UInt8]]
    /// To meters of these families the question is an order: it is not sent where one of them may be.
    package var isOrderTo: Set<MeterFamily>
    package var makeDecoder: @Sendable () -> any FrameDecoder
    /// The model that sends such a frame; nil where it does not say enough. `unproved` counts frames of this link that
    /// chance may have made.
    package var judge: @Sendable (_ frame: Frame, _ unproved: inout Int) -> ModelName?

    package init(
        steps: [[UInt8]] = [], isOrderTo: Set<MeterFamily> = [],
        makeDecoder: @escaping @Sendable () -> any FrameDecoder,
        judge: @escaping @Sendable (_ frame: Frame, _ unproved: inout Int) -> ModelName?
    ) {
        self.steps = steps
        self.isOrderTo = isOrderTo
        self.makeDecoder = makeDecoder
        self.judge = judge
    }
}
