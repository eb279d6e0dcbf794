import MeterModel

/// Why a link over GATT came to nothing, or came to its end.
package enum GATTSerialFailure: Error, Hashable, Sendable {
    /// None of the characteristics that carry a meter's bytes is there.
    case noProfile(services: [BluetoothUUID])
    /// An operation failed.
    case operation(GATTSerialStep, GATTFailure)
    /// All steps until the link is open took longer than they may, together.
    case tooSlow(GATTSerialStep, limit: Duration)
    /// More waits to be sent than a meter is ever sent.
    case tooMuchToSend(limit: Int)
}

/// How far a link is.
package enum GATTSerialStep: Hashable, Sendable {
    case agreeingOnMTU, findingServices, findingCharacteristics, findingDescriptors, subscribing, sending
}

extension GATTSerialStep: CustomStringConvertible {
    package var description: String {
        switch self {
        case .agreeingOnMTU: "agreeing on a packet length"
        case .findingServices: "looking for its services"
        case .findingCharacteristics: "looking for its characteristics"
        case .findingDescriptors: "looking for how to subscribe"
        case .subscribing: "subscribing to its values"
        case .sending: "sending"
        }
    }
}

extension GATTSerialFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noProfile(let services) where services.isEmpty: "it offers no services at all"
        case .noProfile(let services):
            "it has none of the characteristics that meters known here have; its services are "
                + services.prefix(20).map(\.description).joined(separator: ", ")
        case .operation(let step, let failure): "while \(step): \(failure)"
        case .tooSlow(let step, let limit): "it was not ready within \(limit.milliseconds / 1000) s, still \(step)"
        case .tooMuchToSend(let limit): "it takes no bytes: \(limit) wait"
        }
    }
}
