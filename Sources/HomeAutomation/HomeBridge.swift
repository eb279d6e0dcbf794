package import Gateway
package import HomeAutomationCore
package import Logging
package import MeterModel

/// Runs the bridge between this host's meters and a broker.
///
/// An actor on the loop, where the meters' sessions are too: it looks at them once a second. What links tell comes through
/// a bounded queue; whatever blocks is the link's own business.
package actor HomeBridge {
    /// What the bridge works on.
    package struct Parts: Sendable {
        package var link: any BrokerLink
        package var loop: any SessionLoop
        /// All meters of this host as they are now.
        package var meters: @Sendable () async -> [BridgedMeter]
        /// Carries a request out, and says how it went.
        package var perform: @Sendable (MeterRequest, MeterID) async -> RequestOutcome
        package var dice: any RandomNumberGenerator & Sendable

        package init(
            link: any BrokerLink, loop: any SessionLoop, meters: @escaping @Sendable () async -> [BridgedMeter],
            perform: @escaping @Sendable (MeterRequest, MeterID) async -> RequestOutcome,
            dice: any RandomNumberGenerator & Sendable
        ) {
            self.link = link
            self.loop = loop
            self.meters = meters
            self.perform = perform
            self.dice = dice
        }
    }

    /// How the bridge is doing.
    package struct Status: Hashable, Sendable {
        package var isConnected: Bool
        /// Readings that wait for the broker.
        package var backlog: Int
        /// Readings lost for want of room, since the start.
        package var dropped: Int
        /// Why there is no link, where that is known.
        package var trouble: String?
    }

    /// What makes the bridge go on.
    private enum Wake: Sendable {
        case tick
        case events
        case answered(RequestNumber, RequestOutcome)
        case stop
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// How often the meters are looked at.
    package static let tickInterval = Duration.seconds(1)

    private nonisolated let loop: any SessionLoop
    private let parts: Parts
    private let logger: Logger
    private let wakes: AsyncStream<Wake>
    private nonisolated let wake: AsyncStream<Wake>.Continuation
    private let queue: EventQueue
    private var dice: any RandomNumberGenerator & Sendable
    private var machine: BridgeMachine
    private var timer: LoopTimer?
    /// Rises with each attempt, so that late words of an old one are known as such.
    private var attempt = 0
    private var isFinished = false

    package init(_ settings: BridgeMachine.Settings, _ parts: Parts, logger: Logger) {
        loop = parts.loop
        self.parts = parts
        self.logger = logger
        dice = parts.dice
        machine = BridgeMachine(settings)
        let (stream, continuation) = AsyncStream.makeStream(of: Wake.self)
        (wakes, wake) = (stream, continuation)
        queue = EventQueue { continuation.yield(.events) }
    }

    package var status: Status {
        Status(
            isConnected: machine.isConnected, backlog: machine.backlogCount, dropped: machine.backlogDropped,
            trouble: machine.trouble)
    }

    /// Runs until `finish`, and then until the broker has our last word or had its time. Cancelling ends it at once.
    package func run() async {
        let first = await parts.meters()
        await withDiscardingTaskGroup { group in
            // What the broker kept of an earlier run is put right before it says that the bridge is there.
            act(machine.observed(first, at: loop.now, dice: dice.next()), &group)
            act(machine.start(at: loop.now), &group)
            armTimer()
            for await wake in wakes {
                switch wake {
                case .tick:
                    let seen = await parts.meters()
                    act(machine.observed(seen, at: loop.now, dice: dice.next()), &group)
                    if !isFinished { armTimer() }
                case .events: takeEvents(&group)
                case .answered(let number, let outcome):
                    act(machine.answered(number, outcome, at: loop.now), &group)
                case .stop: act(machine.stop(at: loop.now), &group)
                }
                if isFinished { break }
            }
            if let timer { loop.cancel(timer) }
            timer = nil
            if !isFinished { parts.link.close() }
            group.cancelAll()
        }
    }

    /// Asks `run` to end: the broker is told that we go.
    package nonisolated func finish() { wake.yield(.stop) }

    private func armTimer() {
        timer = loop.schedule(at: loop.now + Self.tickInterval) { [wake] in wake.yield(.tick) }
    }

    private func takeEvents(_ group: inout DiscardingTaskGroup) {
        let (events, overrun) = queue.take()
        if overrun > 0 { machine.overrun(by: overrun) }
        for (attempt, event) in events where attempt == self.attempt {
            let now = loop.now
            switch event {
            case .opened: act(machine.linkOpened(at: now), &group)
            case .lost(let cause): act(machine.linkLost(cause, at: now, dice: dice.next()), &group)
            case .acknowledged(let number, let refusal):
                act(machine.acknowledged(number, refusal: refusal, at: now), &group)
            case .received(let message): act(machine.received(message, at: now), &group)
            case .subscriptionRefused(let topic):
                logger.warning(
                    "the broker does not let this host listen: requests will not be heard",
                    metadata: ["topic": "\(topic)"])
            }
        }
    }

    private func act(_ actions: [BridgeMachine.Action], _ group: inout DiscardingTaskGroup) {
        for action in actions {
            switch action {
            case .open(let will):
                attempt += 1
                parts.link.open(will: will) { [queue, attempt] event in queue.add(event, of: attempt) }
            case .close: parts.link.close()
            case .subscribe(let topics): parts.link.subscribe(topics)
            case .publish(let number, let message): parts.link.publish(number, message)
            case .perform(let number, let request, let meter):
                group.addTask { [wake, perform = parts.perform] in
                    wake.yield(.answered(number, await perform(request, meter)))
                }
            case .tell(let notice): logger.log(notice)
            case .finished: isFinished = true
            }
        }
    }
}
