package import Domain

/// Explores a GATT server, reads, writes and subscribes, one operation at a time.
///
/// The client trusts no server: every answer must make progress, so each operation ends after a bounded number of
/// requests. The driver calls `nextPDU` whenever the link has room, passes in incoming PDUs, and calls `woke` at
/// `nextWake`.
package struct GATTClient: Sendable {
    /// Maximum number of attributes. The largest known meter has about a hundred.
    package static let attributeLimit = 512

    package private(set) var database = GATTDatabase()
    var bearer: ATTBearer
    private var work = Work.none

    private enum Work: Sendable {
        case none
        case mtu
        case services(next: UInt16)
        case characteristics(service: Int, next: UInt16)
        case descriptors(service: Int, characteristic: Int, next: UInt16)
        case read(handle: UInt16, soFar: [UInt8])
        case write
    }

    package enum Operation: Hashable, Sendable {
        case exchangeMTU
        case discoverServices
        case discoverCharacteristics(service: UInt16)
        case discoverDescriptors(characteristic: UInt16)
        case read(UInt16)
        case write(UInt16, [UInt8])
        case subscribe(UInt16, GATTSubscription)
    }

    package enum Outcome: Hashable, Sendable {
        /// Success without a value. A discovery's result is in `database`, the MTU in `mtu`.
        case done
        case value([UInt8])
        case failed(GATTFailure)
    }

    package init(ownMTU: Int = ATTPDU.largestMTU) { bearer = ATTBearer(ownMTU: ownMTU) }

    package var mtu: Int { bearer.mtu }
    package var counters: ATTBearer.Counters { bearer.counters }

    package var isBusy: Bool {
        if case .none = work { false } else { true }
    }

    mutating func know(_ database: GATTDatabase, mtu: Int) {
        self.database = database
        bearer.agreed(on: mtu)
    }

    // MARK: Operations

    package enum OnBegin: Hashable, Sendable {
        case started
        case finished(Outcome)
        case busy
    }

    package mutating func begin(_ operation: Operation) -> OnBegin {
        guard !isBusy else { return .busy }
        guard !bearer.isDead else { return .finished(.failed(.timedOut)) }
        switch operation {
        case .exchangeMTU:
            work = .mtu
            bearer.exchangeMTU()
            return .started
        case .discoverServices:
            database = GATTDatabase()
            return asOnBegin(askForServices(from: 1))
        case .discoverCharacteristics(let first):
            guard let index = database.services.firstIndex(where: { $0.range.first == first }) else {
                return .finished(.failed(.misbehaved(.unknownAttribute(first))))
            }
            database.services[index].characteristics = []
            return asOnBegin(askForCharacteristics(of: index, after: first))
        case .discoverDescriptors(let declaration):
            return beginDescriptors(of: declaration)
        case .read(let handle):
            work = .read(handle: handle, soFar: [])
            bearer.send(.readRequest(handle: handle))
            return .started
        case .write(let handle, let value):
            return write(value, to: handle)
        case .subscribe(let handle, let subscription):
            return write(subscription.bytes, to: handle)
        }
    }

    /// Queues a write without a response, also during an operation.
    package mutating func writeWithoutResponse(_ value: [UInt8], to handle: UInt16) {
        bearer.send(.writeCommand(handle: handle, value: value))
    }

    private mutating func write(_ value: [UInt8], to handle: UInt16) -> OnBegin {
        work = .write
        bearer.send(.writeRequest(handle: handle, value: value))
        return .started
    }

    private mutating func beginDescriptors(of declaration: UInt16) -> OnBegin {
        for (index, service) in database.services.enumerated() {
            guard let found = service.characteristics.firstIndex(where: { $0.declaration == declaration }) else {
                continue
            }
            database.services[index].characteristics[found].descriptors = []
            return asOnBegin(askForDescriptors(of: found, in: index, after: service.characteristics[found].value))
        }
        return .finished(.failed(.misbehaved(.unknownAttribute(declaration))))
    }

    private func asOnBegin(_ outcome: Outcome?) -> OnBegin {
        outcome.map { .finished($0) } ?? .started
    }

    // MARK: The link

    package mutating func nextPDU(at now: MonotonicTime) -> ATTPDU? { bearer.nextPDU(at: now) }

    package enum OnReceived: Hashable, Sendable {
        case finished(Outcome)
        case values([ATTHandleValue])
        case none
    }

    package mutating func received(_ bytes: [UInt8]) -> OnReceived {
        switch bearer.received(bytes) {
        case .none: return .none
        case .values(let values): return .values(values)
        case .answered(_, let answer):
            guard let outcome = answered(answer) else { return .none }
            work = .none
            return .finished(outcome)
        }
    }

    package enum OnWoke: Hashable, Sendable {
        case timedOut
        case none
    }

    package mutating func woke(at now: MonotonicTime) -> OnWoke {
        guard case .timedOut = bearer.woke(at: now) else { return .none }
        work = .none
        return .timedOut
    }

    package var nextWake: MonotonicTime? { bearer.nextWake }
}

extension GATTClient {
    private mutating func answered(_ answer: ATTAnswer) -> Outcome? {
        switch answer {
        case .response(let pdu): return responded(pdu)
        case .malformed(let error): return .failed(.malformed(error))
        case .refused(let error): return refused(error)
        }
    }

    private mutating func responded(_ pdu: ATTPDU) -> Outcome? {
        switch (work, pdu) {
        case (.mtu, .exchangeMTUResponse), (.write, .writeResponse): return .done
        case (.services(let next), .readByGroupTypeResponse(let entries)):
            return found(entries, next: next)
        case (.characteristics(let service, let next), .readByTypeResponse(let entries)):
            return found(entries, service: service, next: next)
        case (.descriptors(let service, let characteristic, let next), .findInformationResponse(let entries)):
            return found(entries, characteristic: characteristic, service: service, next: next)
        case (.read(let handle, let soFar), .readResponse(let part)),
            (.read(let handle, let soFar), .readBlobResponse(let part)):
            return hasRead(part, of: handle, soFar: soFar)
        default: return nil
        }
    }

    private mutating func refused(_ error: ATTErrorCode) -> Outcome? {
        switch (work, error) {
        case (.services, .attributeNotFound), (.descriptors, .attributeNotFound): return .done
        case (.characteristics(let service, _), .attributeNotFound):
            closeCharacteristics(of: service)
            return .done
        case (.read(_, let soFar), .invalidOffset) where !soFar.isEmpty,
            (.read(_, let soFar), .attributeNotLong) where !soFar.isEmpty,
            (.read(_, let soFar), .requestNotSupported) where !soFar.isEmpty:
            // The last part filled its PDU. Each of these errors then means that the value is complete.
            return .value(soFar)
        default: return .failed(.refused(error))
        }
    }

    // MARK: Services

    private mutating func askForServices(from next: UInt16) -> Outcome? {
        work = .services(next: next)
        bearer.send(.readByGroupTypeRequest(ATTHandleRange(next, 0xFFFF), type: .primaryService))
        return nil
    }

    private mutating func found(_ entries: [ATTGroupValue], next: UInt16) -> Outcome? {
        var next = next
        for entry in entries {
            guard entry.range.first >= next, entry.range.last >= entry.range.first else {
                return .failed(.misbehaved(.handlesGoBack(to: min(entry.range.first, entry.range.last))))
            }
            guard entry.value.count != 4, let uuid = BluetoothUUID(littleEndian: entry.value) else {
                return .failed(.misbehaved(.entryLength(entry.value.count + 4)))
            }
            database.services.append(GATTService(uuid: uuid, range: entry.range))
            guard database.attributeCount <= Self.attributeLimit else { return tooMany }
            guard entry.range.last < 0xFFFF else { return .done }
            next = entry.range.last + 1
        }
        return askForServices(from: next)
    }

    private var tooMany: Outcome { .failed(.misbehaved(.tooManyAttributes(limit: Self.attributeLimit))) }

    // MARK: Characteristics

    private mutating func askForCharacteristics(of service: Int, after handle: UInt16) -> Outcome? {
        let last = database.services[service].range.last
        guard handle < last else {
            closeCharacteristics(of: service)
            return .done
        }
        work = .characteristics(service: service, next: handle + 1)
        bearer.send(.readByTypeRequest(ATTHandleRange(handle + 1, last), type: .characteristic))
        return nil
    }

    /// Decodes characteristic declarations: each holds the properties, the handle of the value, and the UUID (vol 3
    /// part G 3.3.1).
    private mutating func found(_ entries: [ATTHandleValue], service: Int, next: UInt16) -> Outcome? {
        let last = database.services[service].range.last
        var previous = next - 1
        for entry in entries {
            guard entry.value.count == 5 || entry.value.count == 19,
                let uuid = BluetoothUUID(littleEndian: entry.value.dropFirst(3))
            else { return .failed(.misbehaved(.entryLength(entry.value.count + 2))) }
            let value = entry.value[...].u16(at: 1)
            guard entry.handle > previous else { return .failed(.misbehaved(.handlesGoBack(to: entry.handle))) }
            guard value > entry.handle else { return .failed(.misbehaved(.handlesGoBack(to: value))) }
            guard value <= last else { return .failed(.misbehaved(.handleOutside(value))) }
            database.services[service].characteristics.append(
                GATTCharacteristic(
                    uuid: uuid, properties: GATTProperties(rawValue: entry.value[0]), declaration: entry.handle,
                    value: value, end: last))
            guard database.attributeCount <= Self.attributeLimit else { return tooMany }
            previous = value
        }
        return askForCharacteristics(of: service, after: previous)
    }

    private mutating func closeCharacteristics(of service: Int) {
        let declarations = database.services[service].characteristics.map(\.declaration)
        for (index, next) in declarations.dropFirst().enumerated() {
            database.services[service].characteristics[index].end = next - 1
        }
    }

    // MARK: Descriptors

    private mutating func askForDescriptors(of characteristic: Int, in service: Int, after handle: UInt16) -> Outcome? {
        let end = database.services[service].characteristics[characteristic].end
        guard handle < end else { return .done }
        work = .descriptors(service: service, characteristic: characteristic, next: handle + 1)
        bearer.send(.findInformationRequest(ATTHandleRange(handle + 1, end)))
        return nil
    }

    private mutating func found(
        _ entries: [ATTInformation], characteristic: Int, service: Int, next: UInt16
    ) -> Outcome? {
        let end = database.services[service].characteristics[characteristic].end
        var previous = next - 1
        for entry in entries {
            guard entry.handle > previous else { return .failed(.misbehaved(.handlesGoBack(to: entry.handle))) }
            guard entry.handle <= end else { return .failed(.misbehaved(.handleOutside(entry.handle))) }
            database.services[service].characteristics[characteristic].descriptors.append(entry)
            guard database.attributeCount <= Self.attributeLimit else { return tooMany }
            previous = entry.handle
        }
        return askForDescriptors(of: characteristic, in: service, after: previous)
    }

    // MARK: Values

    /// Appends a part of a long value. If the part fills its PDU, requests the next (vol 3 part G 4.8.3). No value
    /// exceeds 512 bytes, so the requests end.
    private mutating func hasRead(_ part: [UInt8], of handle: UInt16, soFar: [UInt8]) -> Outcome? {
        let value = Array((soFar + part).prefix(ATTPDU.longestValue))
        guard part.count >= bearer.mtu - 1, value.count < ATTPDU.longestValue else { return .value(value) }
        work = .read(handle: handle, soFar: value)
        bearer.send(.readBlobRequest(handle: handle, offset: UInt16(clamping: value.count)))
        return nil
    }
}
