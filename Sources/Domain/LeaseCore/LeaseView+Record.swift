extension LeaseView {
    /// - Parameter waiting: names of the queued hosts, in order.
    package init(_ record: LeaseRecord, of meter: MeterID, at now: MonotonicTime, waiting: [String] = []) {
        let remaining = record.remaining(at: now)
        let state: State =
            switch record.state {
            case .free: .free
            case .held: remaining > .zero ? .held : .expired
            case .revoking: .revoking
            }
        let holder = record.holder
        self.init(
            meter: meter, state: state, holder: holder?.host, holderName: holder?.hostName, token: record.token,
            terms: record.terms, transport: holder?.transport, acquiredAt: holder?.acquiredAt.description,
            remaining: remaining, waiting: waiting)
    }
}
