package import Domain
package import Logging

/// Bridge between this host's meters and an MQTT broker.
///
/// Runs on the loop of the meter sessions and fetches all meters' values once a second. Only the link makes blocking
/// calls.
package actor HomeBridge {
    package struct Dependencies: Sendable {
        package var link: any BrokerLink
        package var loop: any SessionLoop
        /// Returns the meters to bridge. Called on the loop of the meter sessions.
        package var meters: @Sendable () -> [BridgedMeter]
        package var alerts: @Sendable () -> [BridgedAlert]
        /// Returns shared marks (named moments or spans of a meter) made or changed on this host since the last call.
        package var marks: @Sendable () -> [BridgedMark]
        package var perform: @Sendable (MeterRequest, MeterID) async -> RequestOutcome
        package var rng: any RandomNumberGenerator & Sendable

        package init(
            link: any BrokerLink, loop: any SessionLoop, meters: @escaping @Sendable () -> [BridgedMeter],
            alerts: @escaping @Sendable () -> [BridgedAlert] = { [] },
            marks: @escaping @Sendable () -> [BridgedMark] = { [] },
            perform: @escaping @Sendable (MeterRequest, MeterID) async -> RequestOutcome,
            rng: any RandomNumberGenerator & Sendable
        ) {
            self.link = link
            self.loop = loop
            self.meters = meters
            self.alerts = alerts
            self.marks = marks
            self.perform = perform
            self.rng = rng
        }
    }

    package struct Status: Hashable, Sendable {
        package var isConnected: Bool
        /// Time when the link was established or lost; before the first link, when the bridge started.
        package var since: WallTime?
        package var queued: Int
        /// Number of readings among `queued` that are stored for later delivery.
        package var backlog: Int
        package var published: Int
        package var dropped: Int
        package var refused: Int
        /// Number of topics that the broker refused on this link.
        package var refusedTopics: Int
        /// Whether the broker allows subscriptions. True until it refuses one.
        package var hearsRequests: Bool
        package var linksOpened: Int
        package var trouble: BrokerTrouble?
    }

    /// Events that `run` handles. The timer sends none: passing an event through another thread costs more than
    /// fetching all meters' values.
    private enum Wake: Sendable {
        case events
        case perform(RequestNumber, MeterRequest, MeterID)
        case answered(RequestNumber, RequestOutcome)
        case stop
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    package static let tickInterval = Duration.seconds(1)

    private nonisolated let loop: any SessionLoop
    private let dependencies: Dependencies
    private let logger: Logger
    private let wakes: AsyncStream<Wake>
    private nonisolated let wake: AsyncStream<Wake>.Continuation
    nonisolated let queue: EventQueue
    private var rng: any RandomNumberGenerator & Sendable
    private var machine: BridgeMachine
    private var timer: LoopTimer?
    /// ID of the current connection attempt. Events of earlier attempts are ignored.
    private var attempt = 0
    private var isFinished = false
    private var isConnected = false
    private var since: WallTime?
    private var hearsRequests = true

    package init(_ settings: BridgeMachine.Settings, _ dependencies: Dependencies, logger: Logger) {
        loop = dependencies.loop
        self.dependencies = dependencies
        self.logger = logger
        rng = dependencies.rng
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

    /// Runs until `finish` is called and the broker has the last message, or a timeout expires. Cancelling ends it
    /// immediately.
    package func run() async {
        since = loop.wallNow
        await withDiscardingTaskGroup { group in
            // Before announcing the bridge, correct the messages that the broker has retained from an earlier run.
            look()
            act(machine.start(at: loop.now))
            for await next in wakes where !isFinished {
                switch next {
                case .events: takeEvents()
                case .perform(let number, let request, let meter):
                    group.addTask { [wake, perform = dependencies.perform] in
                        wake.yield(.answered(number, await perform(request, meter)))
                    }
                case .answered(let number, let outcome): act(machine.answered(number, outcome, at: loop.now))
                case .stop: act(machine.stop(at: loop.now))
                }
            }
            if let timer { loop.cancel(timer) }
            timer = nil
            if !isFinished { dependencies.link.close() }
            group.cancelAll()
        }
    }

    /// Makes `run` send the last message to the broker and return.
    package nonisolated func finish() { wake.yield(.stop) }

    private func look() {
        let (seen, alerts) = (dependencies.meters(), dependencies.alerts())
        act(
            machine.observed(
                seen, alerts: alerts, marks: dependencies.marks(), at: loop.now, random: rng.next()))
        if isFinished { return }
        timer = loop.schedule(at: loop.now + Self.tickInterval) { [weak self] in self?.assumeIsolated { $0.look() } }
    }

    private func takeEvents() {
        let (events, overrun) = queue.take()
        if overrun > 0 { machine.overrun(by: overrun) }
        for (attempt, event) in events where attempt == self.attempt {
            let now = loop.now
            switch event {
            case .opened:
                hearsRequests = true
                act(machine.linkOpened(at: now))
            case .lost(let cause): act(machine.linkLost(cause, at: now, random: rng.next()))
            case .acknowledged(let number, let refusal):
                act(machine.acknowledged(number, refusal: refusal, at: now))
            case .received(let message): act(machine.received(message, at: now))
            case .subscriptionRefused(let cause):
                hearsRequests = false
                logger.warning(
                    "MQTT broker refused the subscription: requests are not received",
                    metadata: ["cause": "\(cause)"])
            }
        }
    }

    private func act(_ actions: [BridgeMachine.Action]) {
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
                dependencies.link.open(will: will) { [queue, attempt] event in queue.add(event, of: attempt) }
            case .close: dependencies.link.close()
            case .subscribe(let topics): dependencies.link.subscribe(topics)
            case .publish: break
            case .perform(let number, let request, let meter): wake.yield(.perform(number, request, meter))
            case .tell(let notice): logger.log(notice)
            case .finished:
                isFinished = true
                wake.finish()
            }
        }
        publish(&messages)
    }

    private func publish(_ messages: inout [NumberedMessage]) {
        guard !messages.isEmpty else { return }
        dependencies.link.publish(messages)
        messages = []
    }
}
