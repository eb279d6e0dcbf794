import BluetoothCore
package import Domain
package import MeterCodec
package import MeterSimulator

/// A simulated meter with Bluetooth LE: an address, an advertisement, and GATT attributes.
package struct SimulatedRadioMeter: Sendable {
    package var address: MACAddress
    package var isRandom: Bool
    /// Signal strength in dBm.
    package var rssi: Int
    let name: String
    private var meter: any SimulatedMeter
    let database: GATTDatabase
    let mtu = ATTPDU.defaultMTU
    private let input: UInt16
    private let output: GATTCharacteristic
    private let subscription: UInt16
    private(set) var isSubscribed = false

    package init(
        _ meter: any SimulatedMeter, address: MACAddress, isRandom: Bool = false, rssi: Int = -60, name: String? = nil,
        in catalogue: MeterCatalogue = .standard
    ) {
        self.meter = meter
        (self.address, self.isRandom, self.rssi) = (address, isRandom, rssi)
        self.name = name ?? meter.model.displayName
        let modules = catalogue[meter.model.family]?.radioModules ?? []
        let hasTwoServices = !modules.isEmpty && !modules.contains(.oneService)
        database = hasTwoServices ? Self.twoServices : Self.oneService
        let line = database.services.dropFirst().flatMap(\.characteristics)
        let told = line.first { $0.properties.contains(.notify) }
        input = told?.value ?? 0
        subscription = told?.subscription ?? 0
        output = line.first { $0.properties.contains(.write) } ?? line[0]
    }

    var advertisement: [UInt8] {
        let services = database.services.dropFirst().flatMap(\.uuid.littleEndianBytes)
        let name = Array(name.utf8.prefix(29))
        return [2, 1, 6, UInt8(services.count + 1), 3] + services + [UInt8(name.count + 1), 9] + name
    }

    // MARK: The line

    mutating func reset() { isSubscribed = false }

    func value(of handle: UInt16) -> [UInt8]? {
        database.services.flatMap(\.characteristics).contains { $0.value == handle && $0.properties.contains(.read) }
            ? Array(name.utf8) : nil
    }

    /// - Returns: the meter's notifications; nil if the attribute does not accept this kind of write.
    mutating func write(_ bytes: [UInt8], to handle: UInt16, wantsResponse: Bool, at time: Duration) -> [[UInt8]]? {
        let kind: GATTProperties = wantsResponse ? .write : .writeWithoutResponse
        let line = database.services.dropFirst().flatMap(\.characteristics)
        guard let written = line.first(where: { $0.value == handle }), written.properties.contains(kind) else {
            return nil
        }
        // Accept any attribute: a module's second output attribute leads to the same serial line.
        return told(meter.receive(bytes, at: time))
    }

    mutating func writeDescriptor(_ bytes: [UInt8], to handle: UInt16) -> Bool {
        guard handle == subscription else { return false }
        isSubscribed = bytes.first == 1
        return true
    }

    mutating func due(at time: Duration) -> [[UInt8]] { told(meter.due(at: time)) }

    var nextDue: Duration? { meter.nextDue }
    var inputHandle: UInt16 { input }

    private func told(_ values: [[UInt8]]) -> [[UInt8]] { isSubscribed ? values : [] }

    // MARK: Attributes (Docs/Protocols/UM.md#links and Docs/Protocols/FNIRSI.md#bluetooth-le)

    private static let access = GATTService(
        uuid: BluetoothUUID(short: 0x1800), range: ATTHandleRange(1, 3),
        characteristics: [characteristic(0x2A00, .read, value: 3)])

    private static let oneService = GATTDatabase(services: [
        access,
        GATTService(
            uuid: BluetoothUUID(short: 0xFFE0), range: ATTHandleRange(8, 13),
            characteristics: [
                characteristic(
                    0xFFE1, [.read, .write, .writeWithoutResponse, .notify], value: 10, subscription: 11),
                characteristic(0xFFE2, .writeWithoutResponse, value: 13),
            ]),
    ])

    private static let twoServices = GATTDatabase(services: [
        access,
        GATTService(
            uuid: BluetoothUUID(short: 0xFFE0), range: ATTHandleRange(8, 11),
            characteristics: [characteristic(0xFFE4, .notify, value: 10, subscription: 11)]),
        GATTService(
            uuid: BluetoothUUID(short: 0xFFE5), range: ATTHandleRange(16, 18),
            characteristics: [characteristic(0xFFE9, [.write, .writeWithoutResponse], value: 18)]),
    ])

    private static func characteristic(
        _ uuid: UInt32, _ properties: GATTProperties, value: UInt16, subscription: UInt16? = nil
    ) -> GATTCharacteristic {
        GATTCharacteristic(
            uuid: BluetoothUUID(short: uuid), properties: properties, declaration: value - 1, value: value,
            end: subscription ?? value,
            descriptors: subscription.map {
                [ATTInformation(handle: $0, type: .clientCharacteristicConfiguration)]
            } ?? [])
    }
}
