extension ATTPDU {
    /// The encoded PDU. Callers keep it within the MTU.
    ///
    /// In lists with one length for all entries, entries of another length than the first are omitted: a receiver could
    /// not separate them.
    package var bytes: [UInt8] {
        var bytes = [opcode.rawValue]
        switch self {
        case .writeResponse, .executeWriteResponse, .confirmation: break
        case .errorResponse(let request, let handle, let error):
            bytes.append(request)
            bytes.appendLE(handle)
            bytes.append(error.rawValue)
        case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): bytes.appendLE(mtu)
        case .findInformationRequest(let range): bytes.append(range)
        case .findInformationResponse(let entries): bytes.append(entries)
        case .findByTypeValueRequest(let range, let type, let value):
            bytes.append(range)
            bytes.appendLE(type)
            bytes += value
        case .findByTypeValueResponse(let ranges):
            for range in ranges { bytes.append(range) }
        case .readByTypeRequest(let range, let type), .readByGroupTypeRequest(let range, let type):
            bytes.append(range)
            bytes += type.littleEndianBytes
        case .readByTypeResponse(let entries): bytes.append(entries)
        case .readByGroupTypeResponse(let entries): bytes.append(entries)
        case .readRequest(let handle): bytes.appendLE(handle)
        case .readBlobRequest(let handle, let offset):
            bytes.appendLE(handle)
            bytes.appendLE(offset)
        case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value): bytes += value
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            for handle in handles { bytes.appendLE(handle) }
        case .readMultipleVariableResponse(let values):
            for value in values { bytes.appendCounted(value) }
        case .writeRequest(let handle, let value), .writeCommand(let handle, let value):
            bytes.append(ATTHandleValue(handle: handle, value: value))
        case .signedWriteCommand(let handle, let value, let signature):
            bytes.append(ATTHandleValue(handle: handle, value: value))
            bytes += signature
        case .prepareWriteRequest(let handle, let offset, let value),
            .prepareWriteResponse(let handle, let offset, let value):
            bytes.appendLE(handle)
            bytes.appendLE(offset)
            bytes += value
        case .executeWriteRequest(let isCommitted): bytes.append(isCommitted ? 1 : 0)
        case .notification(let entry), .indication(let entry): bytes.append(entry)
        case .multipleNotification(let entries):
            for entry in entries {
                bytes.appendLE(entry.handle)
                bytes.appendCounted(entry.value)
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func appendLE(_ number: UInt16) {
        append(UInt8(truncatingIfNeeded: number))
        append(UInt8(truncatingIfNeeded: number >> 8))
    }

    fileprivate mutating func append(_ range: ATTHandleRange) {
        appendLE(range.first)
        appendLE(range.last)
    }

    fileprivate mutating func append(_ entry: ATTHandleValue) {
        appendLE(entry.handle)
        self += entry.value
    }

    fileprivate mutating func appendCounted(_ value: [UInt8]) {
        appendLE(UInt16(clamping: value.count))
        self += value.prefix(Int(UInt16.max))
    }

    /// Appends the format (1: short types, 2: long types) and the entries. Types are long if any entry has no short
    /// form.
    fileprivate mutating func append(_ entries: [ATTInformation]) {
        let isShort = entries.allSatisfy { $0.type.short != nil }
        append(isShort ? 1 : 2)
        for entry in entries {
            appendLE(entry.handle)
            self += isShort ? entry.type.littleEndianBytes : entry.type.longLittleEndianBytes
        }
    }

    fileprivate mutating func append(_ entries: [ATTHandleValue]) {
        let length = entries.first?.value.count ?? 0
        append(UInt8(clamping: length + 2))
        for entry in entries where entry.value.count == length { append(entry) }
    }

    fileprivate mutating func append(_ entries: [ATTGroupValue]) {
        let length = entries.first?.value.count ?? 0
        append(UInt8(clamping: length + 4))
        for entry in entries where entry.value.count == length {
            append(entry.range)
            self += entry.value
        }
    }
}
