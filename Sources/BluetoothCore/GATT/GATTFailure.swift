package enum GATTFailure: Error, Hashable, Sendable {
    case refused(ATTErrorCode)
    case malformed(ATTDecodeError)
    case misbehaved(GATTFault)
    /// No answer in 30 s. The link is unusable.
    case timedOut
}

/// Inconsistency in a well-formed answer.
package enum GATTFault: Hashable, Sendable {
    /// A handle that does not come after the previous one, so that the list might never end.
    case handlesGoBack(to: UInt16)
    case handleOutside(UInt16)
    case entryLength(Int)
    case tooManyAttributes(limit: Int)
    /// The operation named a service or characteristic that the server never listed.
    case unknownAttribute(UInt16)
}

extension GATTFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .handlesGoBack(let handle): "its list of attributes goes back to \(handle)"
        case .handleOutside(let handle): "it names attribute \(handle), which is outside what was asked for"
        case .entryLength(let length): "it lists entries of \(length) bytes"
        case .tooManyAttributes(let limit): "it has more than \(limit) attributes"
        case .unknownAttribute(let handle): "attribute \(handle) is unknown"
        }
    }
}

extension GATTFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let error): error.description
        case .malformed(let error): "its answer cannot be read: \(error)"
        case .misbehaved(let fault): fault.description
        case .timedOut: "no answer within 30 s"
        }
    }
}
