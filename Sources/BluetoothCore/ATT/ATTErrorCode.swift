/// Reason for which a server refused a request (Core Specification 5.4, vol 3 part F, table 3.4).
package struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let invalidHandle = ATTErrorCode(rawValue: 0x01)
    package static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
    package static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
    package static let invalidPDU = ATTErrorCode(rawValue: 0x04)
    package static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
    package static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
    package static let invalidOffset = ATTErrorCode(rawValue: 0x07)
    package static let insufficientAuthorization = ATTErrorCode(rawValue: 0x08)
    package static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
    /// Error that also marks the end of a list that the client requests in parts.
    package static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
    package static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
    package static let encryptionKeyTooShort = ATTErrorCode(rawValue: 0x0C)
    package static let invalidValueLength = ATTErrorCode(rawValue: 0x0D)
    package static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
    package static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)
    package static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
    package static let insufficientResources = ATTErrorCode(rawValue: 0x11)
    package static let databaseOutOfSync = ATTErrorCode(rawValue: 0x12)
    package static let valueNotAllowed = ATTErrorCode(rawValue: 0x13)
    // Common profile and service codes (Core Specification Supplement, part B 1.2).
    package static let writeRequestRejected = ATTErrorCode(rawValue: 0xFC)
    package static let subscriptionImproperlyConfigured = ATTErrorCode(rawValue: 0xFD)
    package static let procedureInProgress = ATTErrorCode(rawValue: 0xFE)
    package static let outOfRange = ATTErrorCode(rawValue: 0xFF)

    package enum Origin: Hashable, Sendable {
        case protocolDefined
        /// Codes that only the server's manufacturer defines.
        case application
        case commonProfile
        case reserved
    }

    package var origin: Origin {
        switch rawValue {
        case 0x01...0x13: .protocolDefined
        case 0x80...0x9F: .application
        case 0xE0...0xFF: .commonProfile
        default: .reserved
        }
    }

    package var wantsSecurity: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption, .encryptionKeyTooShort:
            true
        default: false
        }
    }
}

extension ATTErrorCode: CustomStringConvertible {
    package var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "\(words) (ATT error 0x\(digits.count == 1 ? "0" : "")\(digits))"
    }

    private var words: String {
        switch self {
        case .invalidHandle: "there is no such attribute"
        case .readNotPermitted: "it cannot be read"
        case .writeNotPermitted: "it cannot be written"
        case .invalidPDU: "the request was malformed"
        case .insufficientAuthentication: "it wants pairing first"
        case .requestNotSupported: "it does not know that request"
        case .invalidOffset: "the offset lies behind the end"
        case .insufficientAuthorization: "it wants an authorisation"
        case .prepareQueueFull: "too many writes are prepared"
        case .attributeNotFound: "nothing like that was found"
        case .attributeNotLong: "the value is too short to be read in parts"
        case .encryptionKeyTooShort: "the encryption key is too short"
        case .invalidValueLength: "the value has the wrong length"
        case .unlikelyError: "something went wrong in it"
        case .insufficientEncryption: "it wants an encrypted link"
        case .unsupportedGroupType: "that is not a grouping attribute"
        case .insufficientResources: "it is out of memory"
        case .databaseOutOfSync: "its attributes have changed"
        case .valueNotAllowed: "the value is not allowed"
        case .writeRequestRejected: "it rejected the write"
        case .subscriptionImproperlyConfigured: "the subscription is not configured as it should be"
        case .procedureInProgress: "it is busy with an earlier request"
        case .outOfRange: "the value is out of range"
        default:
            switch origin {
            case .application: "it refused for a reason of its own"
            case .commonProfile: "it refused for a profile's reason"
            case .protocolDefined, .reserved: "it refused for an unknown reason"
            }
        }
    }
}
