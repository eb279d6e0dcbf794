package import Gateway
package import MeterModel
package import MeterSimulator
import Synchronization

/// Links to simulated meters, in memory and in virtual time: the edges of a test.
package final class SimulatedLinks: ChannelOpener {
    private struct State {
        var meters: [String: any SimulatedMeter] = [:]
        var refusals: [String: ChannelFailure] = [:]
        var channels: [UInt64: (path: String, handle: @Sendable (ChannelEvent) -> Void)] = [:]
        var nextChannel: UInt64 = 0
        var opened = 0
        var written: [String: [UInt8]] = [:]
    }

    private let state = Mutex(State())
    private let loop: VirtualLoop
    /// How long an answer takes.
    private let latency: Duration

    package init(loop: VirtualLoop, latency: Duration = .milliseconds(20)) {
        self.loop = loop
        self.latency = latency
    }

    /// Puts a meter behind a path, or another in its place.
    package func plug(_ meter: any SimulatedMeter, at path: String) {
        state.withLock { $0.meters[path] = meter }
    }

    /// Takes the meter away; its link is lost at once.
    package func unplug(_ path: String) {
        let lost = state.withLock { state in
            state.meters[path] = nil
            let lost = state.channels.filter { $0.value.path == path }
            for id in lost.keys { state.channels[id] = nil }
            return lost.values.map(\.handle)
        }
        for handle in lost { loop.perform { handle(.closed(ChannelFailure(.lost, "\(path) went away"))) } }
    }

    package func setFaults(_ faults: SimulatorFaults, at path: String) {
        state.withLock { $0.meters[path]?.faults = faults }
    }

    /// Makes opening fail, until nil is given.
    package func refuse(_ path: String, with failure: ChannelFailure?) {
        state.withLock { $0.refusals[path] = failure }
    }

    /// Puts bytes on the line to the host, as noise does.
    package func inject(_ bytes: [UInt8], at path: String) {
        let handles = state.withLock { state in state.channels.values.filter { $0.path == path }.map(\.handle) }
        for handle in handles { loop.perform { handle(.received(bytes)) } }
    }

    package var openChannels: Int { state.withLock { $0.channels.count } }
    /// How often a link was tried.
    package var attempts: Int { state.withLock { $0.opened } }
    /// Everything the host ever wrote to a path.
    package func written(to path: String) -> [UInt8] { state.withLock { $0.written[path] ?? [] } }

    package func open(
        _ link: LinkAddress, baudRate: Int, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        let path = link.display
        let (id, failure) = state.withLock { state in
            state.nextChannel += 1
            state.opened += 1
            let missing = state.meters[path] == nil ? ChannelFailure(.missing, "\(path) is not there") : nil
            let failure = state.refusals[path] ?? missing
            if failure == nil { state.channels[state.nextChannel] = (path, handle) }
            return (state.nextChannel, failure)
        }
        _ = loop.schedule(at: loop.now) { handle(failure.map { .closed($0) } ?? .opened) }
        return SimulatedChannel(id: id, links: self)
    }

    fileprivate func send(_ bytes: [UInt8], over id: UInt64) {
        let answers = state.withLock { state -> [[UInt8]] in
            guard let path = state.channels[id]?.path else { return [] }
            state.written[path, default: []] += bytes
            return state.meters[path]?.receive(bytes, at: loop.now.sinceOrigin) ?? []
        }
        for answer in answers {
            _ = loop.schedule(at: loop.now + latency) { [weak self] in
                self?.state.withLock { $0.channels[id]?.handle }?(.received(answer))
            }
        }
    }

    fileprivate func close(_ id: UInt64) {
        state.withLock { $0.channels[id] = nil }
    }
}

private struct SimulatedChannel: ByteChannel {
    let id: UInt64
    let links: SimulatedLinks

    func send(_ bytes: [UInt8]) { links.send(bytes, over: id) }
    func close() { links.close(id) }
}
