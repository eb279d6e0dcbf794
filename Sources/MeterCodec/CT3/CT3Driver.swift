package import Domain

/// Driver of a CT-3. Stops streams that may still run, then starts and receives samples
/// (Docs/Protocols/CT3.md#conversation).
package struct CT3Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = CT3Decoder()
    private var lastID: UInt8 = 0
    /// ID of the last start request. Samples with another ID are ignored.
    private var streamID: UInt8 = 0
    private var heard = false
    private var silentPolls = 0

    /// Milliseconds between samples. The meter's minimum is 1.
    package static let interval_ms: Int32 = 10

    package init(model: ModelName) {
        profile = MeterProfile(
            model: model,
            rhythm: .push(expected: .milliseconds(Int64(Self.interval_ms)), keepAlive: .seconds(1)),
            answerTimeout: .seconds(1))
    }

    /// Sends a stop, waits for its answer, and sends a start. Other programs wait up to a second
    /// (fqueze/usb-power-profiling).
    package mutating func opening() -> [Outgoing] {
        decoder = CT3Decoder()
        (heard, silentPolls) = (false, 0)
        return [Outgoing(stop(), pause: .milliseconds(250)), Outgoing(start())]
    }

    /// Sends nothing while samples arrive. The first poll without samples only waits, because it may directly follow
    /// the start. The second one sends a stop, the third a start.
    package mutating func poll() -> [UInt8] {
        silentPolls = heard ? 0 : silentPolls + 1
        heard = false
        switch silentPolls {
        case 0, 1: return []
        case 2: return stop()
        default:
            silentPolls = 0
            return start()
        }
    }

    private mutating func nextID() -> UInt8 {
        lastID &+= 1
        return lastID
    }

    private mutating func stop() -> [UInt8] { CT3Request.stop.bytes(id: nextID()) }

    private mutating func start() -> [UInt8] {
        streamID = nextID()
        return CT3Request.start(interval_ms: Self.interval_ms).bytes(id: streamID)
    }

    /// Ignores samples of other start requests, because another program's stream may still run. Answers become
    /// `acknowledged`.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        let streamID = streamID
        var heard = false
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            let kind: CT3Message.Kind? =
                switch event {
                case .frame(.packed(let frame)): frame.withBytes { CT3Message.Kind($0) }
                case .frame(.other(let message as CT3Message)): message.kind
                default: nil
                }
            switch kind {
            case nil: handle(event)
            case .reply: handle(.acknowledged)
            case .sample(streamID):
                heard = true
                handle(event)
            case .sample, .other: break
            }
        }
        if heard { self.heard = true }
    }

    package mutating func closing() -> [Outgoing] { [Outgoing(stop(), pause: .milliseconds(50))] }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
