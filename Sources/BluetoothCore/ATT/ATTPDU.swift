/// A message of the attribute protocol (Core Specification 5.4, vol 3 part F 3.4). Numbers are little-endian. Handles
/// and ranges are unchecked.
package enum ATTPDU: Hashable, Sendable {
    /// - Parameters:
    ///   - to: opcode of the refused request, known here or not.
    ///   - handle: requested attribute, or 0.
    case errorResponse(to: UInt8, handle: UInt16, error: ATTErrorCode)
    case exchangeMTURequest(mtu: UInt16)
    case exchangeMTUResponse(mtu: UInt16)
    case findInformationRequest(ATTHandleRange)
    case findInformationResponse([ATTInformation])
    /// - Parameter type: 16-bit UUID; this PDU supports no other form.
    case findByTypeValueRequest(ATTHandleRange, type: UInt16, value: [UInt8])
    /// First and last handle of each found attribute's group.
    case findByTypeValueResponse([ATTHandleRange])
    case readByTypeRequest(ATTHandleRange, type: BluetoothUUID)
    /// All values have the same length.
    case readByTypeResponse([ATTHandleValue])
    case readRequest(handle: UInt16)
    case readResponse([UInt8])
    case readBlobRequest(handle: UInt16, offset: UInt16)
    case readBlobResponse([UInt8])
    case readMultipleRequest([UInt16])
    case readMultipleResponse([UInt8])
    case readMultipleVariableRequest([UInt16])
    /// The last value may be truncated at the end of the PDU.
    case readMultipleVariableResponse([[UInt8]])
    case readByGroupTypeRequest(ATTHandleRange, type: BluetoothUUID)
    /// All values have the same length.
    case readByGroupTypeResponse([ATTGroupValue])
    case writeRequest(handle: UInt16, value: [UInt8])
    case writeResponse
    case writeCommand(handle: UInt16, value: [UInt8])
    /// - Parameter signature: 12 bytes.
    case signedWriteCommand(handle: UInt16, value: [UInt8], signature: [UInt8])
    case prepareWriteRequest(handle: UInt16, offset: UInt16, value: [UInt8])
    case prepareWriteResponse(handle: UInt16, offset: UInt16, value: [UInt8])
    /// - Parameter isCommitted: false discards the prepared values.
    case executeWriteRequest(isCommitted: Bool)
    case executeWriteResponse
    case notification(ATTHandleValue)
    case multipleNotification([ATTHandleValue])
    case indication(ATTHandleValue)
    case confirmation

    /// Length of a PDU over LE without or before an MTU exchange (vol 3 part G 5.2.1).
    package static let defaultMTU = 23
    /// Greatest useful MTU: the longest attribute value (512 bytes) and the longest header (5 bytes). BlueZ offers the
    /// same.
    package static let largestMTU = 517
    /// Longest value of an attribute (vol 3 part F 3.2.9).
    static let longestValue = 512

    package var opcode: ATTOpcode {
        switch self {
        case .errorResponse: .errorResponse
        case .exchangeMTURequest: .exchangeMTURequest
        case .exchangeMTUResponse: .exchangeMTUResponse
        case .findInformationRequest: .findInformationRequest
        case .findInformationResponse: .findInformationResponse
        case .findByTypeValueRequest: .findByTypeValueRequest
        case .findByTypeValueResponse: .findByTypeValueResponse
        case .readByTypeRequest: .readByTypeRequest
        case .readByTypeResponse: .readByTypeResponse
        case .readRequest: .readRequest
        case .readResponse: .readResponse
        case .readBlobRequest: .readBlobRequest
        case .readBlobResponse: .readBlobResponse
        case .readMultipleRequest: .readMultipleRequest
        case .readMultipleResponse: .readMultipleResponse
        case .readMultipleVariableRequest: .readMultipleVariableRequest
        case .readMultipleVariableResponse: .readMultipleVariableResponse
        case .readByGroupTypeRequest: .readByGroupTypeRequest
        case .readByGroupTypeResponse: .readByGroupTypeResponse
        case .writeRequest: .writeRequest
        case .writeResponse: .writeResponse
        case .writeCommand: .writeCommand
        case .signedWriteCommand: .signedWriteCommand
        case .prepareWriteRequest: .prepareWriteRequest
        case .prepareWriteResponse: .prepareWriteResponse
        case .executeWriteRequest: .executeWriteRequest
        case .executeWriteResponse: .executeWriteResponse
        case .notification: .notification
        case .multipleNotification: .multipleNotification
        case .indication: .indication
        case .confirmation: .confirmation
        }
    }
}

/// Handles from `first` to `last`, inclusive and unchecked: `last` may come before `first`.
package struct ATTHandleRange: Hashable, Sendable {
    package var first: UInt16
    package var last: UInt16

    package init(_ first: UInt16, _ last: UInt16) {
        self.first = first
        self.last = last
    }

    package static let all = ATTHandleRange(0x0001, 0xFFFF)
}

package struct ATTInformation: Hashable, Sendable {
    package var handle: UInt16
    package var type: BluetoothUUID

    package init(handle: UInt16, type: BluetoothUUID) {
        self.handle = handle
        self.type = type
    }
}

package struct ATTHandleValue: Hashable, Sendable {
    package var handle: UInt16
    package var value: [UInt8]

    package init(handle: UInt16, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}

package struct ATTGroupValue: Hashable, Sendable {
    package var range: ATTHandleRange
    package var value: [UInt8]

    package init(range: ATTHandleRange, value: [UInt8]) {
        self.range = range
        self.value = value
    }
}
