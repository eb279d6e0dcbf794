import Domain
import HomeAutomation
import Synchronization

/// A broker that does what the test says: keeps what it is given, and confirms it as long as it is not told to stall.
final class ScriptedBroker: BrokerLink {
    struct State {
        var wills: [BrokerMessage] = []
        var published: [BrokerMessage] = []
        var subscriptions: [String] = []
        var closes = 0
        /// How often it was given messages, one or several.
        var batches = 0
        fileprivate var listener: (@Sendable (BrokerEvent) -> Void)?
        fileprivate var accepts = true
        fileprivate var stalls = false
        fileprivate var waiters: [(@Sendable (State) -> Bool, CheckedContinuation<State, Never>)] = []

        func last(_ topic: String) -> BrokerMessage? { published.last { $0.topic == topic } }
        func count(_ topic: String) -> Int { published.count { $0.topic == topic } }
    }

    private let state: Mutex<State>

    /// - Parameter accepts: takes whoever comes; else the test says so.
    init(accepts: Bool = true) {
        var first = State()
        first.accepts = accepts
        state = Mutex(first)
    }

    var now: State { state.withLock { $0 } }

    /// Who hears of the present attempt.
    var listener: (@Sendable (BrokerEvent) -> Void)? { now.listener }

    /// Confirms nothing from now on, or again.
    func stall(_ stalls: Bool = true) { change { $0.stalls = stalls } }

    func accept() { now.listener?(.opened) }

    /// The link is gone; the next attempts succeed, or nothing comes of them.
    func lose(_ cause: String = "gone", accepting: Bool = true) {
        change { $0.accepts = accepting }
        now.listener?(.lost(BrokerTrouble(cause)))
    }

    /// It lets nobody listen.
    func refuseToTell() { now.listener?(.subscriptionRefused("Not authorized")) }

    func send(_ message: BrokerMessage) { now.listener?(.received(message)) }

    /// Returns once what was published, and the rest, is as asked.
    @discardableResult
    func until(_ condition: @escaping @Sendable (State) -> Bool) async -> State {
        await withCheckedContinuation { continuation in
            change { $0.waiters.append((condition, continuation)) }
        }
    }

    /// Forgets what was published.
    func forget() { change { $0.published = [] } }

    func open(will: BrokerMessage?, tell listener: @escaping @Sendable (BrokerEvent) -> Void) {
        let accepts = state.withLock { state in
            if let will { state.wills.append(will) }
            state.listener = listener
            return state.accepts
        }
        change { _ in }
        if accepts { listener(.opened) }
    }

    func close() { change { $0.closes += 1 } }

    func subscribe(_ topics: [String]) { change { $0.subscriptions += topics } }

    func publish(_ messages: [NumberedMessage]) {
        change {
            $0.batches += 1
            $0.published += messages.map(\.message)
        }
        let listener = state.withLock { $0.stalls ? nil : $0.listener }
        for message in messages { listener?(.acknowledged(message.number, refusal: nil)) }
    }

    private func change(_ body: (inout State) -> Void) {
        let (ready, now) = state.withLock { state in
            body(&state)
            var plain = state
            plain.waiters = []
            let ready = state.waiters.filter { $0.0(plain) }.map(\.1)
            state.waiters.removeAll { $0.0(plain) }
            return (ready, plain)
        }
        for waiter in ready { waiter.resume(returning: now) }
    }
}
