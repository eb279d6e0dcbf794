import BluetoothCore
import Gateway
import GatewayAPI
import LinuxIO
import Logging
import MeterModel

/// Passes the kernel's events to the machines, and performs what they ask for.
extension Radios {
    /// The one busy path: 200 advertisers cause some thousand calls a second.
    func heard(_ report: DeviceReport, by index: UInt16, at now: MonotonicTime) {
        guard let place = present.firstIndex(where: { $0.index == index }), let address = present[place].address
        else { return }
        let actions = present[place].machine.heard(at: now)
        // An adapter that is not searching hears what another program's discovery brings, and then counts as searching.
        if !actions.isEmpty || present[place].state == .idle { perform(actions, at: place, now) }
        if let event = sightings.heard(report, by: address, at: now) { tell([event]) }
        if report.flags.contains(.confirmName) {
            // The kernel looks up an unknown name; one that came with an inquiry's answer is known.
            let isKnown = sightings.isNamed(report.address, heardBy: address)
            channel?.send(.confirmName(report.address, isKnown: isKnown), to: index)
        }
    }

    func take(_ event: ManagementEvent, of index: UInt16, at now: MonotonicTime) {
        trace.note(event, of: index, at: now)
        switch event {
        case .commandComplete(let opcode, let status, let parameters):
            guard index != ManagementPacket.noIndex else { return takeIndexList(opcode, status, parameters) }
            notePairingAnswer(opcode, status, index)
            update(index, at: now) {
                $0.answered(opcode: opcode, status, parameters: parameters, at: now)
            }
        case .commandStatus(let opcode, let status):
            notePairingAnswer(opcode, status, index)
            update(index, at: now) { $0.answered(opcode: opcode, status, parameters: [], at: now) }
        case .indexAdded: added(index)
        case .indexRemoved: removed(index)
        case .newSettings(let settings): update(index, at: now) { $0.settingsChanged(settings, at: now) }
        case .discovering(let kinds, let isOn):
            if let address = present.first(where: { $0.index == index })?.address {
                sightings.discovering(kinds, isOn: isOn, by: address, at: now)
            }
            update(index, at: now) { $0.discovering(kinds, isOn: isOn, at: now) }
        case .controllerError(let code): update(index, at: now) { $0.controllerFailed(code: code, at: now) }
        case .deviceConnected(let device):
            update(index, at: now) { machine in
                machine.deviceConnected(device)
                return []
            }
        case .deviceDisconnected(let device, _):
            update(index, at: now) { machine in
                machine.deviceDisconnected(device)
                return []
            }
        case .pinCodeRequest, .userConfirmationRequest, .userPasskeyRequest, .authenticationFailed, .newLinkKey:
            answerPairing(event, index)
        case .connectFailed(let device, .authenticationFailed):
            answerPairing(.authenticationFailed(device, .authenticationFailed), index)
        case .deviceUnblocked(let device) where device.address == MACAddress(bits: 0):
            update(index, at: now) { $0.managerCame(at: now) }
        case .deviceUnblocked, .deviceFound, .connectFailed, .controllerSuspended, .controllerResumed, .other: break
        }
    }

    func blockChanged(_ name: String, _ block: RadioBlock) {
        let now = loop.now
        guard let index = present.first(where: { $0.name == name })?.index else { return }
        update(index, at: now) { $0.blockChanged(block, at: now) }
    }

    // MARK: Adapters

    private func takeIndexList(_ opcode: UInt16, _ status: ManagementStatus, _ parameters: [UInt8]) {
        // An unreadable list is ignored: adapters that come are reported one by one.
        guard opcode == ManagementCommand.readIndexList.opcode, status == .success,
            let list = try? ControllerIndexList(parameters)
        else { return }
        // One added in the meantime has been reported.
        for index in list.indexes where !present.contains(where: { $0.index == index }) { added(index) }
        if list.indexes.isEmpty { logger.info("no Bluetooth adapter") }
    }

    private func added(_ index: UInt16) {
        if present.contains(where: { $0.index == index }) { removed(index) }
        let name = AdapterFiles.name(ofIndex: index)
        var machine = AdapterMachine(
            timing: configuration.timing, linksMax: configuration.linksMax,
            block: rfkill?.block(of: name) ?? RadioBlock(), mode: configuration.search,
            isShared: configuration.files.isOnBoard(name))
        prepareChipReset(of: name, &machine)
        present.append(PresentAdapter(index: index, machine: machine, state: machine.state, since: loop.wallNow))
        logger.info("adapter there", metadata: ["adapter.name": "\(name)"])
        let now = loop.now
        update(index, at: now) { $0.begin(at: now) }
        lookAtDemand()
    }

    func removed(_ index: UInt16) {
        guard let place = present.firstIndex(where: { $0.index == index }) else { return }
        let adapter = present.remove(at: place)
        channel?.forget(index)
        logger.warning("adapter gone", metadata: adapter.metadata)
        guard let address = adapter.address else { return }
        var status = adapter.status(at: loop.now, heard: 0)
        status.name = nil
        status.state = .gone
        status.discovery = nil
        status.since = loop.wallNow.description
        status.links = 0
        status.error = adapter.goneText
        gone[address] = status
        tell(sightings.adapterLost(address) { _ in false })
    }

    // MARK: Machines

    /// Applies an event to a machine and performs what it asks for.
    func update(_ index: UInt16, at now: MonotonicTime, _ body: (inout AdapterMachine) -> [AdapterAction]) {
        guard let place = present.firstIndex(where: { $0.index == index }) else { return }
        perform(body(&present[place].machine), at: place, now)
        rearm()
    }

    func perform(_ actions: [AdapterAction], at place: Int, _ now: MonotonicTime) {
        if let address = present[place].machine.info?.address, present[place].lastAddress != address {
            guard configuration.adapters.isEmpty || configuration.adapters.contains(address) else {
                return leaveAlone(place)
            }
            present[place].lastAddress = address
            if let before = gone.removeValue(forKey: address) {
                present[place].machine.countRecoveries(before: before.recoveries)
                present[place].machine.countDiscovery(before: .milliseconds(before.discovery_ms))
            }
        }
        let adapter = present[place]
        for action in actions {
            switch action {
            case .send(let command):
                trace.note(.command(opcode: command.opcode), of: adapter.index, at: now)
                channel?.send(command, to: adapter.index, patience: adapter.machine.patience(for: command))
            case .resetChip(let reset): resetChip(of: adapter, reset, now)
            case .note(let remedy, let reason):
                logger.warning(
                    "adapter looked after",
                    metadata: adapter.metadata.merging(["remedy": "\(remedy.words)", "cause": "\(reason)"]) { $1 })
            case .noteRecovered: logger.info("adapter well again", metadata: adapter.metadata)
            case .noteBondableContested:
                logger.warning("another program keeps switching Bondable off", metadata: adapter.metadata)
            }
        }
        noteState(place)
    }

    /// Leaves alone an adapter that the configuration does not list.
    private func leaveAlone(_ place: Int) {
        let adapter = present.remove(at: place)
        channel?.forget(adapter.index)
        logger.info("adapter left alone, as the configuration says", metadata: adapter.metadata)
    }

    private func noteState(_ place: Int) {
        let state = present[place].machine.state
        let before = present[place].state
        guard state != before else { return }
        present[place].state = state
        present[place].since = loop.wallNow
        let adapter = present[place]
        var metadata = adapter.metadata
        metadata["state"] = "\(state.rawValue)"
        metadata["before"] = "\(before.rawValue)"
        if let trouble = adapter.machine.trouble { metadata["cause"] = "\(trouble)" }
        let isRoutine = [state, before].allSatisfy { [.searching, .idle, .starting].contains($0) }
        logger.log(level: isRoutine ? .debug : .warning, "adapter state", metadata: metadata)
        guard !adapter.machine.isListening, let address = adapter.address else { return }
        let adapters = present
        tell(sightings.adapterLost(address) { adapters.isLinked($0) })
    }
}

extension PresentAdapter {
    var metadata: Logger.Metadata {
        ["adapter.name": "\(name)", "adapter.address": "\(address?.description ?? "unknown")"]
    }
}
