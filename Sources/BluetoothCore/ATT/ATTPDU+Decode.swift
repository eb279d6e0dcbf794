extension ATTPDU {
    /// Decodes a PDU and checks every length. Trailing bytes in a PDU of fixed length are an error.
    package init(_ bytes: [UInt8]) throws(ATTDecodeError) {
        guard let first = bytes.first else { throw ATTDecodeError(opcode: nil, fault: .empty) }
        guard let opcode = ATTOpcode(rawValue: first) else {
            throw ATTDecodeError(opcode: first, fault: .unknownOpcode)
        }
        guard bytes.count <= Self.largestMTU else {
            throw ATTDecodeError(opcode: first, fault: .tooLong(length: bytes.count))
        }
        var reader = ATTReader(bytes, opcode: opcode)
        self = try Self.decode(opcode, from: &reader)
        try reader.finish()
    }

    private static func decode(_ opcode: ATTOpcode, from reader: inout ATTReader) throws(ATTDecodeError) -> ATTPDU {
        switch opcode.kind {
        case .request: try request(opcode, from: &reader)
        case .response: try response(opcode, from: &reader)
        case .command, .notification, .indication, .confirmation: try other(opcode, from: &reader)
        }
    }

    private static func request(_ opcode: ATTOpcode, from reader: inout ATTReader) throws(ATTDecodeError) -> ATTPDU {
        switch opcode {
        case .exchangeMTURequest: .exchangeMTURequest(mtu: try reader.u16())
        case .findInformationRequest: .findInformationRequest(try reader.range())
        case .findByTypeValueRequest:
            .findByTypeValueRequest(try reader.range(), type: try reader.u16(), value: reader.rest())
        case .readByTypeRequest: .readByTypeRequest(try reader.range(), type: try reader.uuid())
        case .readByGroupTypeRequest: .readByGroupTypeRequest(try reader.range(), type: try reader.uuid())
        case .readBlobRequest: .readBlobRequest(handle: try reader.u16(), offset: try reader.u16())
        case .readMultipleRequest: .readMultipleRequest(try reader.handles())
        case .readMultipleVariableRequest: .readMultipleVariableRequest(try reader.handles())
        case .writeRequest: .writeRequest(handle: try reader.u16(), value: reader.rest())
        case .prepareWriteRequest:
            .prepareWriteRequest(handle: try reader.u16(), offset: try reader.u16(), value: reader.rest())
        case .executeWriteRequest: .executeWriteRequest(isCommitted: try reader.flag())
        default: .readRequest(handle: try reader.u16())
        }
    }

    private static func response(_ opcode: ATTOpcode, from reader: inout ATTReader) throws(ATTDecodeError) -> ATTPDU {
        switch opcode {
        case .errorResponse:
            .errorResponse(
                to: try reader.u8(), handle: try reader.u16(), error: ATTErrorCode(rawValue: try reader.u8()))
        case .exchangeMTUResponse: .exchangeMTUResponse(mtu: try reader.u16())
        case .findInformationResponse: .findInformationResponse(try reader.information())
        case .findByTypeValueResponse:
            .findByTypeValueResponse(try reader.entries(of: 4) { ATTHandleRange($0.u16(at: 0), $0.u16(at: 2)) })
        case .readByTypeResponse:
            .readByTypeResponse(
                try reader.countedEntries(atLeast: 2) {
                    ATTHandleValue(handle: $0.u16(at: 0), value: Array($0.dropFirst(2)))
                })
        case .readByGroupTypeResponse:
            .readByGroupTypeResponse(
                try reader.countedEntries(atLeast: 4) {
                    ATTGroupValue(
                        range: ATTHandleRange($0.u16(at: 0), $0.u16(at: 2)), value: Array($0.dropFirst(4)))
                })
        case .readResponse: .readResponse(reader.rest())
        case .readBlobResponse: .readBlobResponse(reader.rest())
        case .readMultipleResponse: .readMultipleResponse(reader.rest())
        case .readMultipleVariableResponse: .readMultipleVariableResponse(try reader.countedValues())
        case .prepareWriteResponse:
            .prepareWriteResponse(handle: try reader.u16(), offset: try reader.u16(), value: reader.rest())
        case .executeWriteResponse: .executeWriteResponse
        default: .writeResponse
        }
    }

    private static func other(_ opcode: ATTOpcode, from reader: inout ATTReader) throws(ATTDecodeError) -> ATTPDU {
        switch opcode {
        case .writeCommand: .writeCommand(handle: try reader.u16(), value: reader.rest())
        case .signedWriteCommand: try signedWrite(from: &reader)
        case .notification: .notification(ATTHandleValue(handle: try reader.u16(), value: reader.rest()))
        case .indication: .indication(ATTHandleValue(handle: try reader.u16(), value: reader.rest()))
        case .multipleNotification: .multipleNotification(try reader.countedHandleValues())
        default: .confirmation
        }
    }

    /// The signature is the last 12 bytes.
    private static func signedWrite(from reader: inout ATTReader) throws(ATTDecodeError) -> ATTPDU {
        let handle = try reader.u16()
        let rest = reader.rest()
        guard rest.count >= 12 else { throw reader.tooShort }
        return .signedWriteCommand(
            handle: handle, value: Array(rest.dropLast(12)), signature: Array(rest.suffix(12)))
    }
}

package struct ATTDecodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Opcode as received; nil for an empty PDU.
    package var opcode: UInt8?
    package var fault: Fault

    package init(opcode: UInt8?, fault: Fault) {
        self.opcode = opcode
        self.fault = fault
    }

    package enum Fault: Hashable, Sendable {
        case empty
        case unknownOpcode
        case tooShort(length: Int)
        /// Longer than any MTU allows, or than this kind of PDU can be.
        case tooLong(length: Int)
        /// The list's length is no multiple of its entries' length, or the entries are too short.
        case unevenList(entryLength: Int, length: Int)
        case unknownFormat(UInt8)
    }

    package var description: String {
        let name = opcode.map { raw in
            ATTOpcode(rawValue: raw)?.description ?? "PDU 0x" + String(raw, radix: 16, uppercase: true)
        }
        let subject = name ?? "PDU"
        return switch fault {
        case .empty: "an empty PDU"
        case .unknownOpcode: "\(subject) is of an unknown kind"
        case .tooShort(let length): "\(subject) ends after \(length) bytes"
        case .tooLong(let length): "\(subject) has \(length) bytes, too many"
        case .unevenList(let entry, let length): "\(subject) lists \(length) bytes as entries of \(entry)"
        case .unknownFormat(let format): "\(subject) has the unknown format \(format)"
        }
    }
}
