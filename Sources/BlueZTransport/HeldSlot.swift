import Domain

/// A granted slot (permission for one link) of an adapter, given back at most once. Use only on the event loop.
struct HeldSlot {
    private let slots: any RadioSlots
    private let link: RadioLink
    private let transport: LinkAddress.Transport
    private var isHeld = true

    init(of link: RadioLink, over transport: LinkAddress.Transport, from slots: any RadioSlots) throws(ChannelFailure) {
        if let refusal = slots.take(link, over: transport) { throw refusal }
        self.slots = slots
        self.link = link
        self.transport = transport
    }

    func linkUp() {
        if isHeld { slots.linkUp(link, over: transport) }
    }

    func prepare(_ proceed: @escaping @Sendable () -> Void) { slots.prepare(link, over: transport, proceed) }

    func explain(_ failure: ChannelFailure) -> ChannelFailure {
        isHeld ? slots.explain(failure, of: link, over: transport) : failure
    }

    mutating func giveBack() {
        guard isHeld else { return }
        isHeld = false
        slots.giveBack(link, over: transport)
    }
}
