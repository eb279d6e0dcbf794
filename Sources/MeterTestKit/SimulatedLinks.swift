package import Domain
package import MeterSimulator
import Synchronization

/// Links to simulated meters, in memory and virtual time. The meters' clock is the loop's clock.
package final class SimulatedLinks: ChannelOpener {
    private struct Line {
        var path: String
        var handle: @Sendable (ChannelEvent) -> Void
        var deliveries: [UInt64: LoopTimer] = [:]
        /// Time of the meter's next unrequested message, by the meter's own clock; nil if none is scheduled.
        var pushDue: Duration?
        var usesOtherOutput = false
    }

    private struct State {
        var meters: [String: any SimulatedMeter] = [:]
        var refusals: [String: ChannelFailure] = [:]
        var modules: [String: RadioModule] = [:]
        var remarks: [String: String] = [:]
        var stuck: Set<String> = []
        var deaf: Set<String> = []
        var lines: [UInt64: Line] = [:]
        var lingers: [Duration] = []
        var nextNumber: UInt64 = 0
        var attempts: [(path: String, time: MonotonicTime)] = []
        var written: [(path: String, time: MonotonicTime, bytes: [UInt8])] = []

        mutating func number() -> UInt64 {
            nextNumber += 1
            return nextNumber
        }
    }

    private let state = Mutex(State())
    private let loop: VirtualLoop
    private let latency: Duration

    package init(loop: VirtualLoop, latency: Duration = .milliseconds(20)) {
        self.loop = loop
        self.latency = latency
    }

    // MARK: What a test does to the meters

    /// Connects a meter to a path, replacing any other.
    package func plug(_ meter: any SimulatedMeter, at path: String) {
        state.withLock { $0.meters[path] = meter }
    }

    package func meter(at path: String) -> (any SimulatedMeter)? { state.withLock { $0.meters[path] } }

    /// Removes the meter, so that its link is lost.
    package func unplug(_ path: String) {
        state.withLock { $0.meters[path] = nil }
        for (id, handle) in lines(at: path) {
            close(id)
            loop.perform { handle(.closed(ChannelFailure(.lost, "\(path) went away"))) }
        }
    }

    package func setFaults(_ faults: SimulatorFaults, at path: String) {
        state.withLock { $0.meters[path]?.faults = faults }
    }

    package func setModule(_ module: RadioModule, at path: String) {
        state.withLock { $0.modules[path] = module }
    }

    /// Sets the text about a fault of an open, working link.
    package func setRemark(_ remark: String, at path: String) {
        state.withLock { $0.remarks[path] = remark }
    }

    /// Gives the links to a meter two outputs, of which only the second reaches it.
    package func makeFirstOutputDeaf(at path: String) {
        state.withLock { _ = $0.deaf.insert(path) }
    }

    /// Makes opening fail with `failure`; nil ends this.
    package func refuse(_ path: String, with failure: ChannelFailure?) {
        state.withLock { $0.refusals[path] = failure }
    }

    /// Sets whether opening hangs.
    package func makeStuck(_ path: String, _ isStuck: Bool = true) {
        state.withLock { state in
            if isStuck { state.stuck.insert(path) } else { state.stuck.remove(path) }
        }
    }

    /// Sends bytes to the host, like noise on the line.
    package func inject(_ bytes: [UInt8], at path: String) {
        for (_, handle) in lines(at: path) { loop.perform { handle(.received(bytes)) } }
    }

    // MARK: What a test asks

    package var openChannels: Int { state.withLock { $0.lines.count } }
    package var attempts: Int { state.withLock { $0.attempts.count } }
    package func attemptTimes(at path: String) -> [MonotonicTime] {
        state.withLock { state in state.attempts.filter { $0.path == path }.map(\.time) }
    }
    package func written(to path: String) -> [UInt8] { writes(to: path).flatMap(\.bytes) }
    package func writes(to path: String) -> [(time: MonotonicTime, bytes: [UInt8])] {
        state.withLock { state in state.written.filter { $0.path == path }.map { ($0.time, $0.bytes) } }
    }

    package var lingers: [Duration] { state.withLock { $0.lingers } }

    // MARK: ChannelOpener

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        let path = link.simulatedPath
        let now = loop.now
        let (id, failure, isStuck) = state.withLock { state in
            state.attempts.append((path, now))
            let id = state.number()
            let missing = state.meters[path] == nil ? ChannelFailure(.missing, "\(path) is not there") : nil
            let failure = state.refusals[path] ?? missing
            state.lines[id] = Line(path: path, handle: handle)
            return (id, failure, state.stuck.contains(path))
        }
        guard !isStuck else { return SimulatedChannel(id: id, links: self) }
        deliver(over: id, at: now) { [weak self] in
            if let failure {
                self?.close(id)
                handle(.closed(failure))
            } else {
                handle(.opened)
                self?.scheduleNextPush(over: id)
            }
        }
        return SimulatedChannel(id: id, links: self)
    }

    fileprivate func module(over id: UInt64) -> RadioModule? {
        state.withLock { state in state.lines[id].flatMap { state.modules[$0.path] } }
    }

    fileprivate func remark(over id: UInt64) -> String? {
        state.withLock { state in state.lines[id].flatMap { state.remarks[$0.path] } }
    }

    fileprivate func send(_ bytes: [UInt8], over id: UInt64) {
        let now = loop.now
        let answers = state.withLock { state -> [[UInt8]] in
            guard let path = state.lines[id]?.path else { return [] }
            state.written.append((path, now, bytes))
            guard state.lines[id]?.usesOtherOutput == state.deaf.contains(path) else { return [] }
            return state.meters[path]?.receive(bytes, at: now.sinceOrigin) ?? []
        }
        for answer in answers { deliverBytes(answer, over: id, at: now + latency) }
        scheduleNextPush(over: id)
    }

    fileprivate func switchOutput(of id: UInt64) -> Bool {
        state.withLock { state in
            guard let path = state.lines[id]?.path, state.deaf.contains(path) else { return false }
            state.lines[id]?.usesOtherOutput.toggle()
            return true
        }
    }

    fileprivate func close(_ id: UInt64, after pause: Duration) {
        state.withLock { if $0.lines[id] != nil { $0.lingers.append(pause) } }
        close(id)
    }

    fileprivate func close(_ id: UInt64) {
        let line = state.withLock { $0.lines.removeValue(forKey: id) }
        for timer in line?.deliveries.values ?? [:].values { loop.cancel(timer) }
    }

    private func lines(at path: String) -> [(id: UInt64, handle: @Sendable (ChannelEvent) -> Void)] {
        state.withLock { state in
            state.lines.filter { $0.value.path == path }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.handle) }
        }
    }

    private func deliverBytes(_ bytes: [UInt8], over id: UInt64, at time: MonotonicTime) {
        deliver(over: id, at: time) { [weak self] in
            self?.state.withLock { $0.lines[id]?.handle }?(.received(bytes))
        }
    }

    private func deliver(over id: UInt64, at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) {
        let number = state.withLock { $0.number() }
        let timer = loop.schedule(at: time) { [weak self] in
            self?.state.withLock { _ = $0.lines[id]?.deliveries.removeValue(forKey: number) }
            body()
        }
        state.withLock { $0.lines[id]?.deliveries[number] = timer }
    }

    private func scheduleNextPush(over id: UInt64) {
        let due = state.withLock { state -> Duration? in
            guard let line = state.lines[id], let due = state.meters[line.path]?.nextDue,
                line.pushDue.map({ due < $0 }) ?? true
            else { return nil }
            state.lines[id]?.pushDue = due
            return due
        }
        guard let due else { return }
        // Wait at least 1 ms even for an overdue meter, because virtual time must advance.
        let time = max(MonotonicTime(sinceOrigin: due), loop.now + .milliseconds(1))
        deliver(over: id, at: time) { [weak self] in self?.push(over: id, due: due) }
    }

    private func push(over id: UInt64, due: Duration) {
        let now = loop.now
        let pushed = state.withLock { state -> [[UInt8]] in
            // Skip this push if the meter received bytes meanwhile, which scheduled an earlier push.
            guard let path = state.lines[id]?.path, state.lines[id]?.pushDue == due else { return [] }
            state.lines[id]?.pushDue = nil
            return state.meters[path]?.due(at: now.sinceOrigin) ?? []
        }
        for bytes in pushed { state.withLock { $0.lines[id]?.handle }?(.received(bytes)) }
        scheduleNextPush(over: id)
    }
}

private struct SimulatedChannel: ByteChannel {
    let id: UInt64
    let links: SimulatedLinks

    func send(_ bytes: [UInt8]) { links.send(bytes, over: id) }
    func close() { links.close(id) }
    func switchOutput() -> Bool { links.switchOutput(of: id) }
    func close(after pause: Duration) { links.close(id, after: pause) }
    var radioModule: RadioModule? { links.module(over: id) }
    var remark: String? { links.remark(over: id) }
}

extension LinkAddress {
    /// The path at which a test plugs in this link's meter: the device node, or transport and addresses for a radio
    /// link.
    package var simulatedPath: String { isRadio ? "\(transport.rawValue) \(stored)" : stored }
}
