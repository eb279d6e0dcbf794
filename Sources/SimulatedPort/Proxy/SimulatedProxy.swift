import BluetoothCore
package import Domain
import ESPHomeCore

/// An ESPHome node as a value: a Bluetooth proxy with simulated meters in range, its own sensors, or both. Receives its
/// clients' bytes and returns bytes for them.
///
/// As strict as `api` and `bluetooth_proxy` of esphome 2026.6.5: one subscriber gets all answers. There is no
/// notification before the client writes the meter's CCC descriptor. A lost link is reported twice. A slot is occupied
/// until the meter's address has left the list of allocated slots.
package struct SimulatedProxy: Sendable {
    package struct Options: Sendable {
        package var name = "simulated-proxy"
        package var mac = MACAddress(bits: 0x02_00_00_E5_32_01)
        package var bluetoothMAC = MACAddress(bits: 0x02_00_00_E5_32_03)
        /// Encryption key of 32 bytes; nil for plain text.
        package var key: [UInt8]?
        package var version = "2026.6.5"
        package var features: UInt32 = 255
        package var slots = 3
        package var advertisingInterval = Duration.milliseconds(500)
        package var faults: Set<Fault> = []

        package init() {}
    }

    package enum Fault: String, CaseIterable, Sendable {
        /// The node refuses the handshake with an error text.
        case rejects
        /// The node stops sending in the middle of a frame.
        case halfFrame = "half-frame"
        /// The report of a new link lacks the MTU.
        case noMTU = "no-mtu"
        /// The slot of a closed link never becomes free again.
        case slotKept = "slot-kept"
        /// The list of GATT services lacks its end message.
        case servicesCut = "services-cut"
        /// Each GATT write with a response fails.
        case gattError = "gatt-error"
        /// Each GATT write with a response fails with the error "congested": a buffer is full.
        case congested
        /// A connect request occupies a slot, but gets no answer.
        case silent
        /// A connect request fails, as if the meter were out of range.
        case notEstablished = "not-established"
        /// Links outlive their client, until another client closes them.
        case linksKept = "links-kept"
        case pingIgnored = "ping-ignored"
        /// A plain-text frame's header declares an impossible length: a varint of five bytes.
        case oversized
    }

    package struct Client: Hashable, Sendable {
        let number: Int
    }

    package enum Output: Hashable, Sendable {
        case send(Client, [UInt8])
        case close(Client)
    }

    package var options: Options
    private var clients: [Client: Connection] = [:]
    private var lastClient = 0
    /// The subscribed client. Other subscribers are ignored until it disconnects.
    private var subscriber: Client?
    package private(set) var meters: [SimulatedRadioMeter]
    package var sensors: SimulatedSensors?
    private var links: Set<UInt64> = []
    package private(set) var allocated: Set<UInt64> = []
    /// Scan mode: 1 during an active scan.
    package private(set) var mode: UInt32 = 0
    package private(set) var lastMode: UInt32?
    private var nextAdvertisement = Duration.zero

    private struct Connection: Sendable {
        var wire: SimulatedWire
        var minor: UInt32 = 0
        var hearsStates = false
    }

    package init(
        _ options: Options = Options(), meters: [SimulatedRadioMeter] = [], sensors: SimulatedSensors? = nil
    ) {
        self.options = options
        self.meters = meters
        self.sensors = sensors
    }

    // MARK: Clients

    /// - Parameter ephemeral: 32 random bytes.
    package mutating func accepted(ephemeral: [UInt8]) -> Client {
        lastClient += 1
        let client = Client(number: lastClient)
        clients[client] = Connection(wire: SimulatedWire(options, ephemeral: ephemeral))
        return client
    }

    /// Removes a client. The subscriber's links end, too.
    package mutating func ended(_ client: Client) {
        clients[client] = nil
        guard subscriber == client else { return }
        (subscriber, mode) = (nil, 0)
        guard !options.faults.contains(.linksKept) else { return }
        links = []
        if !options.faults.contains(.slotKept) { allocated = [] }
        for index in meters.indices { meters[index].reset() }
    }

    package func isSubscriber(_ client: Client) -> Bool { subscriber == client }

    /// Disconnects every client, and resets everything but the configuration.
    package mutating func reboot() -> [Output] {
        let all = clients.keys.sorted { $0.number < $1.number }
        for client in all { ended(client) }
        (links, allocated) = ([], [])
        return all.map { .close($0) }
    }

    package mutating func received(_ bytes: [UInt8], from client: Client, at time: Duration) -> [Output] {
        guard let events = clients[client]?.wire.received(bytes) else { return [] }
        var outputs: [Output] = []
        for event in events {
            switch event {
            case .send(let bytes): outputs.append(.send(client, bytes))
            case .refuse: return outputs + close(client)
            case .message(let frame): outputs += take(frame, from: client, at: time)
            }
            guard clients[client] != nil else { break }
        }
        return outputs
    }

    private mutating func close(_ client: Client) -> [Output] {
        ended(client)
        return [.close(client)]
    }

    private mutating func send(_ frame: APIFrame, to client: Client) -> [Output] { send([frame], to: client) }

    private mutating func send(_ frames: [APIFrame], to client: Client) -> [Output] {
        guard !frames.isEmpty, var connection = clients[client] else { return [] }
        var all: [UInt8] = []
        for frame in frames {
            var bytes = connection.wire.seal(frame)
            if options.faults.contains(.halfFrame), frame.id == DeviceInfoResponse.id { bytes = Array(bytes.prefix(7)) }
            if options.faults.contains(.oversized), frame.id == DeviceInfoResponse.id {
                bytes = [0, 0xFF, 0xFF, 0xFF, 0xFF, 1]
            }
            all += bytes
        }
        clients[client] = connection
        return [.send(client, all)]
    }

    private mutating func tell(_ frames: [APIFrame]) -> [Output] {
        subscriber.map { send(frames, to: $0) } ?? []
    }

    // MARK: Messages

    private mutating func take(_ frame: APIFrame, from client: Client, at time: Duration) -> [Output] {
        switch frame.id {
        case HelloRequest.id:
            clients[client]?.minor = HelloRequest.read(frame)?.minor ?? 0
            let answer = HelloResponse.made {
                ($0.major, $0.minor, $0.name) = (1, 14, options.name)
                $0.server = "\(options.name) (esphome v\(options.version))"
            }
            return send(answer.frame, to: client)
        case EmptyMessage.pingRequest.id:
            return options.faults.contains(.pingIgnored) ? [] : send(EmptyMessage.pingResponse, to: client)
        case EmptyMessage.disconnectRequest.id: return send(EmptyMessage.disconnectResponse, to: client) + close(client)
        case EmptyMessage.deviceInfoRequest.id: return send(info, to: client)
        case EmptyMessage.listEntitiesRequest.id:
            return send((sensors?.infos ?? []).map(\.frame) + [EmptyMessage.listEntitiesDone], to: client)
        case EmptyMessage.subscribeStatesRequest.id:
            clients[client]?.hearsStates = true
            return send(sensors?.states ?? [], to: client)
        case SubscribeAdvertisements.id:
            guard subscriber == nil || subscriber == client else { return [] }
            subscriber = client
            nextAdvertisement = time
            return tell([scannerState])
        case EmptyMessage.unsubscribeAdvertisements.id where subscriber == client:
            subscriber = nil
            return []
        // Answer any client, not only the subscriber (esphome 2026.6.5, `send_connections_free`).
        case EmptyMessage.subscribeConnectionsFree.id: return send(slots, to: client)
        case SetScannerMode.id:
            mode = SetScannerMode.read(frame)?.mode ?? 0
            lastMode = mode
            return tell([scannerState])
        default:
            return tell(answers(to: frame, at: time, isShort: clients[client].map { $0.minor >= 12 } ?? false))
        }
    }

    private var info: APIFrame {
        DeviceInfoResponse.made {
            ($0.name, $0.version, $0.model, $0.features) = (options.name, options.version, "esp32dev", options.features)
            ($0.mac, $0.bluetoothMAC) = (options.mac.description, options.bluetoothMAC.description)
        }.frame
    }

    private var scannerState: APIFrame {
        ScannerState.made { ($0.state, $0.mode) = (ScannerState.running, mode) }.frame
    }

    private var slots: APIFrame {
        ConnectionsFree.made {
            $0.limit = UInt32(options.slots)
            $0.free = UInt32(max(0, options.slots - allocated.count))
            $0.allocated = allocated.sorted()
        }.frame
    }

    // MARK: Links

    private mutating func answers(to frame: APIFrame, at time: Duration, isShort: Bool) -> [APIFrame] {
        if let request = DeviceRequest.read(frame) { return asked(request) }
        if let address = GetServices.read(frame)?.address {
            return linked(address).map { services(of: meters[$0], isShort: isShort) } ?? []
        }
        guard let (kind, message) = AttributeMessage.read(frame) else { return [] }
        func done(_ kind: AttributeMessage.Kind, _ data: [UInt8] = []) -> [APIFrame] {
            [AttributeMessage.frame(kind, message.address, message.handle) { $0.data = data }]
        }
        func failed(_ code: Int) -> [APIFrame] {
            [AttributeMessage.frame(.failed, message.address, message.handle) { $0.error = code }]
        }
        let handle = UInt16(clamping: message.handle)
        guard let index = linked(message.address) else {
            return kind == .write ? failed(AttributeMessage.notConnected) : []
        }
        switch kind {
        case .read: return meters[index].value(of: handle).map { done(.readDone, $0) } ?? failed(2)
        case .write:
            if message.wantsResponse, options.faults.contains(.gattError) { return failed(133) }
            if message.wantsResponse, options.faults.contains(.congested) { return failed(AttributeMessage.congested) }
            let told = meters[index].write(
                message.written, to: handle, wantsResponse: message.wantsResponse, at: time)
            // Bluedroid reports completion even for a write without a response.
            return told.map { done(.writeDone) + notifications($0, of: meters[index]) } ?? failed(3)
        case .writeDescriptor:
            return meters[index].writeDescriptor(message.data, to: handle) ? done(.writeDone) : failed(3)
        case .notify: return done(.notifyDone)
        case .readDone, .notified, .failed, .writeDone, .notifyDone: return []
        }
    }

    private func linked(_ address: UInt64) -> Int? {
        links.contains(address) ? meters.firstIndex { $0.address.bits == address } : nil
    }

    private mutating func asked(_ request: ProtoMessage<DeviceRequest>) -> [APIFrame] {
        let address = request.address
        let index = meters.firstIndex { $0.address.bits == address && request.addressType == ($0.isRandom ? 1 : 0) }
        switch request.kind {
        case DeviceRequest.connect, DeviceRequest.connectKnown:
            if links.contains(address) { return [connection(address, isUp: true)] }
            // Ignore the request while an earlier link still occupies its slot.
            guard !allocated.contains(address) else { return [] }
            guard allocated.count < options.slots else { return [connection(address, isUp: false)] }
            allocated.insert(address)
            guard !options.faults.contains(.silent) else { return [slots] }
            guard let index, !options.faults.contains(.notEstablished) else {
                return [slots] + end(address, reason: 62)
            }
            links.insert(address)
            meters[index].reset()
            let mtu = options.faults.contains(.noMTU) ? 0 : meters[index].mtu
            return [slots, connection(address, isUp: true, mtu: UInt32(mtu))]
        case DeviceRequest.disconnect: return end(address, reason: 22)
        default: return []
        }
    }

    private mutating func end(_ address: UInt64, reason: Int) -> [APIFrame] {
        links.remove(address)
        if !options.faults.contains(.slotKept) { allocated.remove(address) }
        return [connection(address, isUp: false, error: reason), slots]
    }

    /// Simulates a meter out of range. The proxy reports the lost link twice, then its free slots.
    ///
    /// - Parameter isTold: false to omit both reports of the lost link, as if the proxy lacked room for them.
    package mutating func loseMeter(_ address: MACAddress, isTold: Bool = true) -> [Output] {
        guard links.contains(address.bits) else { return [] }
        let ended = end(address.bits, reason: 8)
        return tell(isTold ? ended.prefix(1) + ended : ended.suffix(1))
    }

    private func connection(_ address: UInt64, isUp: Bool, mtu: UInt32 = 0, error: Int = 0) -> APIFrame {
        DeviceConnection.made {
            ($0.address, $0.isConnected, $0.mtu, $0.error) = (address, isUp, mtu, error)
        }.frame
    }

    private func notifications(_ values: [[UInt8]], of meter: SimulatedRadioMeter) -> [APIFrame] {
        values.map { value in
            AttributeMessage.frame(.notified, meter.address.bits, UInt32(meter.inputHandle)) { $0.data = value }
        }
    }

    private func services(of meter: SimulatedRadioMeter, isShort: Bool) -> [APIFrame] {
        let frames = meter.database.services.map { service in
            ServicesFound.made {
                ($0.address, $0.services) = (meter.address.bits, [FoundGATTService.made(service, isShort: isShort)])
            }.frame
        }
        guard !options.faults.contains(.servicesCut) else { return frames }
        return frames + [ServicesDone.made { $0.address = meter.address.bits }.frame]
    }

    // MARK: Time

    /// Returns unprompted messages of the node and its meters, due at or before `time`.
    package mutating func due(at time: Duration) -> [Output] {
        var outputs: [Output] = []
        for index in meters.indices {
            let told = meters[index].due(at: time)
            if links.contains(meters[index].address.bits) { outputs += tell(notifications(told, of: meters[index])) }
        }
        let states = sensors?.due(at: time) ?? []
        for (client, connection) in clients.sorted(by: { $0.key.number < $1.key.number }) where connection.hearsStates {
            outputs += send(states, to: client)
        }
        guard subscriber != nil, time >= nextAdvertisement else { return outputs }
        nextAdvertisement = time + options.advertisingInterval
        let heard = RawAdvertisements.made {
            $0.list = meters.filter { !links.contains($0.address.bits) }.map { meter in
                RawAdvertisement.made {
                    ($0.address, $0.rssi) = (meter.address.bits, meter.rssi)
                    ($0.addressType, $0.data) = (meter.isRandom ? 1 : 0, meter.advertisement)
                }
            }
        }
        return outputs + (heard.list?.isEmpty != false ? [] : tell([heard.frame]))
    }

    package var nextDue: Duration? {
        (meters.map(\.nextDue) + [sensors?.nextDue, subscriber == nil ? nil : nextAdvertisement]).compactMap { $0 }
            .min()
    }
}

extension FoundGATTService {
    fileprivate static func made(_ service: GATTService, isShort: Bool) -> ProtoMessage<Self> {
        made(service.uuid, isShort: isShort, handle: service.range.first) {
            $0.characteristics = service.characteristics.map { one in
                FoundCharacteristic.made(one.uuid, isShort: isShort, handle: one.value) {
                    $0.properties = UInt32(one.properties.rawValue)
                    $0.descriptors = one.descriptors.map {
                        FoundDescriptor.made($0.type, isShort: isShort, handle: $0.handle)
                    }
                }
            }
        }
    }
}
