import Domain
import HomeAutomation
import LinuxIO
import MeterCodec
import MeterSimulator
import ProgramKit

/// Publishes a simulated device's messages until SIGINT or SIGTERM.
func runSmartPlug(_ plug: SimulatedSmartPlug, over broker: MosquittoLink.Settings) async throws {
    let loop = try IOLoop(name: "simulator")
    loop.start()
    defer { loop.shutdown() }
    let port = SmartPlugPort(plug, over: broker, on: loop)
    await port.plugIn()
    Terminal.line(plug.topic)
    Terminal.talk(
        "publishes at \(broker.address); in meterd.toml:\n[mqtt]\nurl = \"\(broker.address)\"", linesKept: true)
    Terminal.talk("[[mqtt.meter]]\npreset = \"\(plug.preset.rawValue)\"\ntopic = \"\(plug.topic)\"", linesKept: true)
    await untilStopped { line in
        switch try PortOrder(line) {
        case nil: break
        case .plug: await port.plugIn()
        case .unplug: await port.unplug()
        case .faults, .powerCycle:
            throw CommandFailure(.usage, "a device behind a broker has no such fault", next: "type unplug or plug")
        }
    }
    await port.unplug()
}

private actor SmartPlugPort {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: IOLoop
    private let link: MosquittoLink
    private let started: MonotonicTime
    private var plug: SimulatedSmartPlug
    private var isPlugged = false
    private var alarm: Alarm
    private var lastPacket: PacketNumber = 0

    init(_ plug: SimulatedSmartPlug, over broker: MosquittoLink.Settings, on loop: IOLoop) {
        (self.plug, self.loop) = (plug, loop)
        link = MosquittoLink(broker)
        (alarm, started) = (Alarm(on: loop), loop.now)
    }

    func plugIn() {
        guard !isPlugged else { return }
        isPlugged = true
        link.open(will: plug.will) { [weak self, loop] event in
            _ = loop.schedule(at: loop.now) { [weak self] in self?.assumeIsolated { $0.happened(event) } }
        }
    }

    /// Makes the broker publish the last will.
    func unplug() {
        isPlugged = false
        alarm.cancel()
        link.close()
    }

    private func happened(_ event: BrokerEvent) {
        guard isPlugged else { return }
        switch event {
        case .opened:
            link.subscribe(plug.subscriptions)
            publish([plug.birth])
            tick()
        case .received(let message): publish(plug.received(message, at: loop.now - started, loop.wallNow))
        case .acknowledged, .subscriptionRefused: break
        case .lost(let trouble):
            for line in [trouble.message, trouble.next].compactMap({ $0 }) { Terminal.talk(line) }
            unplug()
            _ = loop.schedule(at: loop.now + .seconds(2)) { [weak self] in self?.assumeIsolated { $0.plugIn() } }
        }
    }

    private func tick() {
        publish(plug.due(at: loop.now - started, loop.wallNow))
        alarm.set(to: plug.nextDue.map { started + $0 }) { [weak self] in
            self?.assumeIsolated {
                $0.alarm.rang()
                $0.tick()
            }
        }
    }

    private func publish(_ messages: [BrokerMessage]) {
        guard !messages.isEmpty else { return }
        link.publish(
            messages.map { message in
                lastPacket += 1
                return NumberedMessage(lastPacket, message)
            })
    }
}
