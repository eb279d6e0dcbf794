package import Domain

/// Meters that meterd computes from readings of others (Docs/Meters/COMPUTED.md). Each has a session, whose channel
/// receives the results as lines. Nothing runs without a reading or a change of state of another meter.
///
/// Use only on the session loop. Sessions call it while they modify their own readings, so it must not access a
/// session's readings.
package final class ComputedMeters: ChannelOpener, @unchecked Sendable {
    // Unchecked: used only on the session loop.

    private let entries: [ComputedMeter]
    private let loop: any SessionLoop
    private weak var directory: MeterDirectory?

    /// - Parameter formulas: formulas by the names of their meters in the configuration.
    package init(_ formulas: [String: Formula], on loop: any SessionLoop) {
        entries = formulas.sorted { $0.key < $1.key }.map { ComputedMeter($0.key, $0.value) }
        self.loop = loop
    }

    /// Begins to compute a meter, which has a session now.
    func declared(_ port: DeclaredPort, as id: MeterID, in directory: MeterDirectory) {
        self.directory = directory
        entries.first { $0.name == port.path }?.sighting = Sighting(
            id: id, model: port.model, name: port.name, link: port.link)
        refresh()
    }

    func stateChanged(of meter: MeterID) {
        // Ignore computed meters: a formula cannot use them.
        if !entries.contains(where: { $0.sighting?.id == meter }) { refresh() }
    }

    func heard(_ reading: TimedReading, of meter: MeterID) {
        for entry in entries {
            var isPart = false
            for (index, part) in entry.parts.enumerated() where part.meter == meter && part.lack == nil {
                isPart = true
                let quantity = entry.machine.formula.operands[index].quantity
                guard reading.reading.supported.contains(quantity) else { continue }
                entry.machine.heard(reading.reading[quantity], of: index, at: loop.now, lasting: part.staleAfter)
            }
            if isPart { settle(entry) }
        }
    }

    /// Finds the meters of all operands again, because a name or a state may have changed.
    func refresh() {
        guard let directory, directory.assumeIsolated({ !$0.isShuttingDown }) else { return }
        for entry in entries where entry.sighting != nil {
            for (index, operand) in entry.machine.formula.operands.enumerated() {
                let part = directory.assumeIsolated { $0.part(operand.meter) }
                if part.lack != nil || part.meter != entry.parts[index].meter { entry.machine.lost(index) }
                entry.parts[index] = part
            }
            settle(entry)
        }
    }

    /// Brings the session up to date: the meter is present while one of its operands has data.
    fileprivate func settle(_ entry: ComputedMeter) {
        guard let sighting = entry.sighting, let session = directory?.meters.session(of: sighting.id) else { return }
        let now = loop.now
        if entry.machine.hasData(at: now) {
            session.assumeIsolated { if !$0.isPresent { $0.appeared(sighting) } }
            guard let channel = entry.channel, channel.isUp else { return }
            if let reading = entry.machine.reading(at: now) { channel.tell(reading) }
        } else {
            entry.channel?.tell(entry.machine.unknown)
            let lack = entry.lack(at: now) ?? ""
            session.assumeIsolated { $0.partsAreGone(sighting, because: lack) }
        }
    }

    // MARK: ChannelOpener

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        guard let entry = entries.first(where: { $0.name == link.stored }) else {
            return RefusedChannel(ChannelFailure(.missing, Self.noFormula(link.stored)), loop: loop, handle)
        }
        let channel = ComputedChannel(entry, of: self, on: loop, handle)
        entry.channel = channel
        return channel
    }

    /// Error message for a meter whose formula is no longer in the configuration.
    static func noFormula(_ name: String) -> String {
        "meterd.toml has no [meter.\(name)] any more. Put it back, or forget the meter."
    }
}

private final class ComputedMeter {
    let name: String
    var machine: FormulaMachine
    /// Meters of the operands, in the order of `Formula.operands`.
    var parts: [FormulaPart]
    /// Sighting to report to the meter's session; nil until the meter is declared.
    var sighting: Sighting?
    weak var channel: ComputedChannel?

    init(_ name: String, _ formula: Formula) {
        self.name = name
        machine = FormulaMachine(formula)
        parts = formula.operands.map { _ in FormulaPart() }
    }

    /// Description of the first operand without data; nil if all have data.
    func lack(at now: MonotonicTime) -> String? {
        guard let index = parts.indices.first(where: { !machine.hasData(of: $0, at: now) }) else { return nil }
        let operand = machine.formula.operands[index]
        return parts[index].lack ?? "\(operand.meter.quoted) has not reported its \(operand.quantity.word)"
    }
}

/// Channel of a computed meter. Its handler receives each result as a line of JSON.
private final class ComputedChannel: ByteChannel, @unchecked Sendable {
    // Unchecked: used only on the session loop.

    private let entry: ComputedMeter
    private let meters: ComputedMeters
    private let loop: any SessionLoop
    private var handle: (@Sendable (ChannelEvent) -> Void)?
    private var timer: LoopTimer?
    private(set) var isUp = false

    init(
        _ entry: ComputedMeter, of meters: ComputedMeters, on loop: any SessionLoop,
        _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        (self.entry, self.meters, self.loop, self.handle) = (entry, meters, loop, handle)
        timer = loop.schedule(at: loop.now) { [weak self] in self?.opened() }
    }

    private func opened() {
        (timer, isUp) = (nil, true)
        handle?(.opened)
        meters.settle(entry)
    }

    var remark: String? { entry.lack(at: loop.now).map { "\($0), so the value is unknown" } }

    func tell(_ reading: Reading) {
        guard isUp else { return }
        reading.forEach { quantity, value in
            handle?(.received(LatestValues.line([(quantity, value)])))
        }
    }

    /// Ignores the bytes, because there is no device.
    func send(_ bytes: [UInt8]) {}

    func close() {
        if let timer { loop.cancel(timer) }
        (timer, isUp, handle) = (nil, false, nil)
    }
}
