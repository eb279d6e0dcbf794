import Domain

package enum GATTSerialFailure: Error, Hashable, Sendable {
    case noProfile(services: [BluetoothUUID])
    case operation(GATTSerialStep, GATTFailure)
    case tooSlow(GATTSerialStep, limit: Duration)
    /// The send backlog exceeds any meter's needs.
    case tooMuchToSend(limit: Int)
}

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
