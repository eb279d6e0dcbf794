package import Domain

package enum NodeMeterAction: Hashable, Sendable {
    case send([UInt8])
    case opened
    /// One reading as JSON: quantities by name, `null` for an unknown value.
    case line([UInt8])
    case close(APIFault)
}

/// Reads an ESPHome node's sensors as one meter, over one connection. Reads no clock.
///
/// ```
///   ┌──────────┐ told  ┌─────────┐ all listed, chosen  ┌─────────┐
///   │ GREETING │──────▶│ LISTING │────────────────────▶│ READING │
///   └──────────┘       └─────────┘                     └─────────┘
/// ```
///
/// Each sensor reports at its own interval. The node collects values for 100 ms (`batch_delay` in esphome 2026.6.5,
/// `components/api/__init__.py`), so values received together make one reading. It repeats the other sensors' last
/// values, unless they are older than `maxAge`.
///
/// The first value of each sensor is ignored: the node stored it before the subscription (`subscribe_state.cpp` in
/// esphome), and the sensor may have failed weeks ago.
package struct NodeMeter: Sendable {
    private let node: NodeSettings
    private let names: [Quantity: String]
    private var session: APISession
    private var phase = Phase.greeting
    private var values: LatestValues
    /// Sensors whose first value was ignored, because the node had stored it.
    private var remembered: Set<UInt32> = []
    private let timing: NodeTiming

    private enum Phase: Sendable {
        case greeting
        case listing(since: MonotonicTime, ProtoMessage<DeviceInfoResponse>, [ProtoMessage<SensorInfo>])
        case reading(SensorChoice)
    }

    private static let sensorsMax = 1000

    /// - Parameters:
    ///   - names: sensors chosen by the user.
    ///   - maxAge: maximum age of a sensor's last value in a reading.
    package init(
        _ node: NodeSettings, names: [Quantity: String] = [:], maxAge: Duration, _ security: APISecurity,
        at now: MonotonicTime
    ) {
        (self.node, self.names, values) = (node, names, LatestValues(maxAge: maxAge))
        var timing = NodeTiming()
        // Shorter than a session's limit for an attempt (30 s), so that users see which step timed out.
        (timing.greeting, timing.services) = (.seconds(10), .seconds(10))
        self.timing = timing
        session = APISession(node, timing, security, at: now)
    }

    package mutating func begin(at now: MonotonicTime) -> [NodeMeterAction] {
        attempt { own throws(APIFault) in try own.handle(own.session.begin(), at: now) }
    }

    package mutating func received(_ bytes: [UInt8], at now: MonotonicTime) -> [NodeMeterAction] {
        attempt { own throws(APIFault) in try own.handle(own.session.received(bytes, at: now), at: now) }
    }

    package mutating func woke(at now: MonotonicTime) -> [NodeMeterAction] {
        attempt { own throws(APIFault) in
            if case .listing(let since, _, _) = own.phase, now >= since + own.timing.services {
                throw .ended("did not list its sensors within \(own.timing.services.shortText)")
            }
            return try own.handle(own.session.woke(at: now), at: now)
        }
    }

    package var nextWake: MonotonicTime {
        guard case .listing(let since, _, _) = phase else { return session.nextWake }
        return min(session.nextWake, since + timing.services)
    }

    package mutating func farewell() -> [UInt8] { session.seal(EmptyMessage.disconnectRequest) }

    /// For users: quantities that are not measured, with the reason.
    package var remark: String? { if case .reading(let choice) = phase { choice.remark } else { nil } }

    private mutating func attempt(
        _ body: (inout NodeMeter) throws(APIFault) -> [NodeMeterAction]
    ) -> [NodeMeterAction] {
        do throws(APIFault) {
            return try body(&self)
        } catch {
            return [.close(error)]
        }
    }

    private mutating func handle(
        _ events: [APISession.Event], at now: MonotonicTime
    ) throws(APIFault) -> [NodeMeterAction] {
        var actions: [NodeMeterAction] = []
        var isNew = false
        for event in events {
            switch event {
            case .bytes(let bytes): actions.append(.send(bytes))
            case .send(let frame): actions.append(.send(session.seal(frame)))
            case .told(let info):
                phase = .listing(since: now, info, [])
                actions.append(.send(session.seal(EmptyMessage.listEntitiesRequest)))
            case .message(let frame):
                switch (phase, frame.id) {
                case (.listing(let since, let info, let sensors), SensorInfo.id):
                    guard sensors.count < Self.sensorsMax else {
                        throw .unsuitable("\(node.display) has more than \(Self.sensorsMax) sensors.")
                    }
                    phase = .listing(since: since, info, sensors + [try frame.read(SensorInfo.self)])
                case (.listing(_, let info, let sensors), EmptyMessage.listEntitiesDone.id):
                    phase = .reading(try SensorChoice(sensors, of: info, names: names, node: node))
                    actions += [.send(session.seal(EmptyMessage.subscribeStatesRequest)), .opened]
                case (.reading(let choice), SensorState.id):
                    isNew = take(try frame.read(SensorState.self), choice, at: now) || isNew
                default: break
                }
            case .ended(let fault): return actions + [.close(fault)]
            }
        }
        if isNew, case .reading(let choice) = phase {
            actions.append(.line(values.line(of: choice.quantities, at: now)))
        }
        return actions
    }

    private mutating func take(_ state: ProtoMessage<SensorState>, _ choice: SensorChoice, at now: MonotonicTime)
        -> Bool
    {
        guard let sensor = choice.sensors[state.key], !remembered.insert(state.key).inserted else { return false }
        values.set(
            sensor.quantity, to: state.isMissing ? nil : sensor.unit.value(of: state.state.asWritten), at: now)
        return true
    }
}

extension Float {
    /// This value as a `Double` with the same shortest decimal: 0.31 remains 0.31, and does not become
    /// 0.3100000023841858.
    fileprivate var asWritten: Double { Double("\(self)") ?? .nan }
}
