package import Domain

/// Describes a family of meters to the rest of the program: everything about it except its bytes, as one value in the
/// family's folder. Listing it in `MeterCatalogue.standard` makes its meters known everywhere.
///
/// Only the first four members are required. The others default to what holds for most families.
package protocol FamilyDescription: Sendable {
    var family: MeterFamily { get }
    /// In the order in which people see them.
    var models: [ModelName] { get }
    /// The decoders of captured bytes, by the names that a person types (Docs/CommandLine.md#meters).
    var decoders: [NamedDecoder] { get }
    /// A driver for one link to one of the models. Nil if the model has no such link, or none that is supported here.
    func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)?

    /// The USB devices that are meters of this family.
    var usbDevices: [USBIdentity] { get }
    /// What USB tells about the maker beyond those, if anything.
    var usbMaker: USBMaker? { get }

    /// The model of a meter that advertises this name, if the name tells it (Docs/Identities.md#over-the-air).
    func model(named name: AdvertisedName) -> ModelName?
    /// Whether a name that does not tell the model is at least one of the maker's.
    ///
    /// - Parameter name: in upper case.
    func isMakersName(_ name: String) -> Bool
    /// The radio over which the maker's name alone is reason enough to connect, if any.
    var makersNameRadio: LinkAddress.Transport? { get }
    /// Whether a name is that of a radio module in its meters, which is in other things as well.
    func isModulesName(_ name: AdvertisedName) -> Bool
    /// The radio modules in its meters.
    var radioModules: Set<RadioModule> { get }
    /// How to identify its meters when their names do not. Nil for a family without a radio.
    var radioQuestion: RadioQuestion? { get }
    /// Whether a meter has one address for LE and another for Classic, which differ only in the group bit.
    var hasTwinAddresses: Bool { get }

    /// What a model can measure: the ranges outside which its live decoding refuses a value. Files are judged by them too. Empty
    /// where nothing is refused.
    func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>]

    /// The models that record by themselves, in the order in which people see them.
    var modelsWithLogs: [ModelName] { get }
    /// A transfer that reads what such a model recorded.
    func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)?

    /// The models that hear USB Power Delivery on the CC line, in the order in which people see them. Their frames have
    /// `powerDelivery`.
    var modelsHearingPD: [ModelName] { get }

    /// The family, if people describe models of it. Asked for, because a cast to a protocol has Swift's runtime go through
    /// every conformance in the program, a family at a time, and meterd asks at its start.
    var describable: (any DescribableFamily)? { get }
}

extension FamilyDescription {
    package var describable: (any DescribableFamily)? { nil }
    package var usbDevices: [USBIdentity] { [] }
    package var usbMaker: USBMaker? { nil }
    package func model(named name: AdvertisedName) -> ModelName? { nil }
    package func isMakersName(_ name: String) -> Bool { false }
    package var makersNameRadio: LinkAddress.Transport? { nil }
    package func isModulesName(_ name: AdvertisedName) -> Bool { false }
    package var radioModules: Set<RadioModule> { [] }
    package var radioQuestion: RadioQuestion? { nil }
    package var hasTwinAddresses: Bool { false }
    package func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>] { [:] }
    package var modelsWithLogs: [ModelName] { [] }
    package func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)? { nil }
    package var modelsHearingPD: [ModelName] { [] }
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

/// The name that a device gives itself over a radio.
package struct AdvertisedName: Hashable, Sendable {
    /// In upper case.
    package var text: String
    /// `ble` or `spp`: the radio over which it was heard.
    package var radio: LinkAddress.Transport
    /// 16-bit UUIDs of the services that it advertises.
    package var services: Set<UInt16>

    package init(_ text: String, over radio: LinkAddress.Transport, services: Set<UInt16> = []) {
        self.text = text.uppercased()
        self.radio = radio
        self.services = services
    }
}

/// How to identify a family's meters over a radio by what they send (Docs/Protocols/Identification.md).
package struct RadioQuestion: Sendable {
    /// The requests to send, one for each step; an empty one leaves time for a slow answer. No steps for meters that
    /// push.
    package var steps: [[UInt8]]
    /// Families whose meters would take the question as a command: it is not sent where one of them may be.
    var isOrderTo: Set<MeterFamily>
    package var makeDecoder: @Sendable () -> any FrameDecoder
    /// The model that sends such a frame. Nil if the frame does not say enough. `unproved` counts the frames of this
    /// link that may have matched by chance.
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
