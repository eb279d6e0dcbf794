/// What else people are told of an adapter.
extension AdapterMachine {
    /// Whose discovery runs; nil while none does.
    package enum DiscoveryOwner: Sendable {
        case own
        /// Another program's, as far as the kernel tells: what it hears is heard here, and no discovery of one's own begins.
        case another
    }

    package var discoveryOwner: DiscoveryOwner? {
        guard case .running(.running(_, _, let isOurs)) = phase else { return nil }
        return isOurs ? .own : .another
    }
}
