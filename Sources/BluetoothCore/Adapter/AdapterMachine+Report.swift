/// Further facts about an adapter for people.
extension AdapterMachine {
    /// The owner of the running discovery.
    package enum DiscoveryOwner: Sendable {
        case own
        /// Another program, according to the kernel: we hear what its discovery hears, and cannot begin our own.
        case another
    }

    package var discoveryOwner: DiscoveryOwner? {
        guard case .running(.running(_, _, let isOurs)) = phase else { return nil }
        return isOurs ? .own : .another
    }
}
