package import Domain

/// Description of a family of meters, without its wire format. `MeterCatalogue.standard` lists all families. Only the
/// first four members are required.
package protocol FamilyDescription: Sendable {
    var family: MeterFamily { get }
    /// Models in display order.
    var models: [ModelName] { get }
    /// Decoders of captured bytes, by the names of Docs/CommandLine.md#meters.
    var decoders: [NamedDecoder] { get }
    /// Nil if the model has no such link or the link is not supported.
    func driver(for model: ModelName, over transport: LinkAddress.Transport) -> (any MeterDriver)?

    var usbDevices: [USBIdentity] { get }
    /// USB properties that identify the maker but not the model.
    var usbMaker: USBMaker? { get }

    /// Returns the model with this name; nil if the name does not identify it (Docs/Identities.md#over-the-air).
    func model(named name: AdvertisedName) -> ModelName?
    /// Returns whether the name, in upper case, belongs to the maker, even if it does not identify the model.
    func isMakersName(_ name: String) -> Bool
    /// The radio over which the maker's name alone suffices for connecting; nil for none.
    var makersNameRadio: LinkAddress.Transport? { get }
    /// Returns whether the family's meters contain a radio module of this name. Other devices may too.
    func isModulesName(_ name: AdvertisedName) -> Bool
    var radioModules: Set<RadioModule> { get }
    /// Way to identify the family's meters over a radio; nil without a radio.
    var radioQuestion: RadioQuestion? { get }
    /// Whether a meter's LE and Classic addresses differ only in the group bit.
    var hasTwinAddresses: Bool { get }

    /// Ranges that a model can measure; no entry means no limit. Live decoding and file checks refuse other values.
    func ranges(of model: ModelName) -> [Quantity: ClosedRange<Double>]

    /// Models with logs in their own memory, in display order.
    var modelsWithLogs: [ModelName] { get }
    func logTransfer(_ wish: LogRequest, from model: ModelName) -> (any MeterTransfer<MeterLogs>)?

    /// Models that capture USB Power Delivery on the CC line, in display order.
    var modelsHearingPD: [ModelName] { get }

    /// This family, if users can describe models of it. A cast would make Swift's runtime search every conformance and
    /// slow meterd's start.
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

/// A decoder and the name that the user types for it.
package struct NamedDecoder: Sendable {
    /// Name in lower case.
    package var name: String
    package var make: @Sendable (_ enforcingChecks: Bool) -> any FrameDecoder

    package init(_ name: String, _ make: @escaping @Sendable (_ enforcingChecks: Bool) -> any FrameDecoder) {
        self.name = name
        self.make = make
    }
}

package struct AdvertisedName: Hashable, Sendable {
    /// Advertised name in upper case.
    package var text: String
    /// `ble` or `spp`: the radio that received the name.
    package var radio: LinkAddress.Transport
    /// 16-bit UUIDs of the advertised services.
    package var services: Set<UInt16>

    package init(_ text: String, over radio: LinkAddress.Transport, services: Set<UInt16> = []) {
        self.text = text.uppercased()
        self.radio = radio
        self.services = services
    }
}

/// Requests that identify a family's meters over a radio by their answers (Docs/Protocols/Identification.md).
package struct RadioQuestion: Sendable {
    /// Requests to send, one per step; empty for meters that push. An empty request allows time for a slow answer.
    package var steps: [[UInt8]]
    /// Families whose meters would execute the requests as a command. Devices that may belong to one get no request.
    var isOrderTo: Set<MeterFamily>
    package var makeDecoder: @Sendable () -> any FrameDecoder
    /// Returns the model that sends `frame`, if the frame identifies it. `unproved` counts frames on this link that may
    /// match by chance.
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
