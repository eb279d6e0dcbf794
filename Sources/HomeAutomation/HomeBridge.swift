package import HomeAutomationCore
package import IOPorts
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
        /// All meters of this host as they are now. Called on the loop, where the meters are: nobody waits for another
        /// thread.
        package var meters: @Sendable () -> [BridgedMeter]
        /// Carries a request out, and says how it went.
        package var perform: @Sendable (MeterRequest, MeterID) async -> RequestOutcome
        package var dice: any RandomNumberGenerator & Sendable

        package init(
            link: any BrokerLink, loop: any SessionLoop, meters: @escaping @Sendable () -> [BridgedMeter],
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
        /// When the link went up, or was lost; without any link so far, when the bridge began to run. nil means it did
        /// not.
        package var since: WallTime?
        /// Everything that waits for the broker: to be sent, to be confirmed, or until it is back.
        package var queued: Int
        /// Of that, readings that are kept until they can be delivered.
        package var backlog: Int
        /// Messages that the broker confirmed, since the start.
        package var published: Int
        /// Messages given up for want of room, since the start.
        package var dropped: Int
        /// Messages that the broker did not take, since the start.
        package var refused: Int
        /// Topics that the broker did not take something for, on this link.
        package var refusedTopics: Int
        /// The broker lets this host listen, as far as it said something about it.
        package var hearsRequests: Bool
        /// Links that went up, since the start.
        package var linksOpened: Int
        /// Why there is no link, where that is known.
        package var trouble: BrokerTrouble?
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
    /// As of `since`.
    private var isConnected = false
    /// When it began to run, and then when the link last came or went.
    private var since: WallTime?
    private var hearsRequests = true

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
            isConnected: machine.isConnected, since: since, queued: machine.queueCount, backlog: machine.backlogCount,
            published: machine.publishedCount, dropped: machine.droppedCount, refused: machine.refusedCount,
            refusedTopics: machine.refusedTopicsCount, hearsRequests: hearsRequests, linksOpened: machine.linksOpened,
            trouble: machine.trouble)
    }

    /// Runs until `finish`, and then until the broker has our last word or had its time. Cancelling ends it at once.
    package func run() async {
        since = loop.wallNow
        let first = parts.meters()
        await withDiscardingTaskGroup { group in
            // What the broker kept of an earlier run is put right before it says that the bridge is there.
            act(machine.observed(first, at: loop.now, dice: dice.next()), &group)
            act(machine.start(at: loop.now), &group)
            armTimer()
            for await wake in wakes {
                switch wake {
                case .tick:
                    let seen = parts.meters()
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
            case .opened:
                hearsRequests = true
                act(machine.linkOpened(at: now), &group)
            case .lost(let cause): act(machine.linkLost(cause, at: now, dice: dice.next()), &group)
            case .acknowledged(let number, let refusal):
                act(machine.acknowledged(number, refusal: refusal, at: now), &group)
            case .received(let message): act(machine.received(message, at: now), &group)
            case .subscriptionRefused(let cause):
                hearsRequests = false
                logger.warning(
                    "the broker does not let this host listen: requests will not be heard",
                    metadata: ["cause": "\(cause)"])
            }
        }
    }

    private func act(_ actions: [BridgeMachine.Action], _ group: inout DiscardingTaskGroup) {
        if machine.isConnected != isConnected {
            isConnected = machine.isConnected
            since = loop.wallNow
        }
        var messages: [NumberedMessage] = []
        for action in actions {
            if case .publish(let number, let message) = action {
                messages.append(NumberedMessage(number, message))
                continue
            }
            publish(&messages)
            switch action {
            case .open(let will):
                attempt += 1
                parts.link.open(will: will) { [queue, attempt] event in queue.add(event, of: attempt) }
            case .close: parts.link.close()
            case .subscribe(let topics): parts.link.subscribe(topics)
            case .publish: break
            case .perform(let number, let request, let meter):
                group.addTask { [wake, perform = parts.perform] in
                    wake.yield(.answered(number, await perform(request, meter)))
                }
            case .tell(let notice): logger.log(notice)
            case .finished: isFinished = true
            }
        }
        publish(&messages)
    }

    /// What follows each other goes together.
    private func publish(_ messages: inout [NumberedMessage]) {
        guard !messages.isEmpty else { return }
        parts.link.publish(messages)
        messages = []
    }
}
