import BluetoothCore
import Domain

/// A machine and what it asked for, with a kernel that answers as the test says.
struct AdapterProbe {
    var machine: AdapterMachine
    var now = MonotonicTime.origin
    /// Commands that were sent, the last at the end.
    private(set) var sent: [ManagementCommand] = []
    private(set) var notes: [Remedy] = []
    private(set) var chipResets: [ChipReset] = []
    private(set) var recoveries = 0
    private(set) var contests = 0
    private(set) var isAnswered = true

    static let dual = ControllerInfo(
        address: MACAddress(bits: 0x00_1A7D_DA71_13), supported: [.powered, .bondable, .classic, .lowEnergy],
        current: [.powered, .bondable, .classic, .lowEnergy])

    /// Without rests, which have tests of their own, and always searching.
    init(
        timing: AdapterTiming = .withoutRests, linksMax: Int = 5, block: RadioBlock = RadioBlock(),
        mode: SearchMode = .always, isShared: Bool = false
    ) {
        machine = AdapterMachine(timing: timing, linksMax: linksMax, block: block, mode: mode, isShared: isShared)
        take(machine.begin(at: now))
    }

    /// One whose discovery runs.
    static func searching(_ info: ControllerInfo = dual, linksMax: Int = 5) -> AdapterProbe {
        var probe = AdapterProbe(linksMax: linksMax)
        probe.answer(.success, ManagementSamples.bytes(of: info))
        probe.answer(.success)
        probe.discovering(true)
        return probe
    }

    var lastSent: ManagementCommand? { sent.last }

    mutating func take(_ actions: [AdapterAction]) {
        for action in actions {
            switch action {
            case .send(let command):
                sent.append(command)
                isAnswered = false
            case .resetChip(let reset): chipResets.append(reset)
            case .note(let remedy, _): notes.append(remedy)
            case .noteRecovered: recoveries += 1
            case .noteBondableContested: contests += 1
            }
        }
    }

    /// Answers the last command.
    mutating func answer(_ status: ManagementStatus, _ parameters: [UInt8] = []) {
        guard let command = sent.last else { return }
        isAnswered = true
        take(machine.answered(opcode: command.opcode, status, parameters: parameters, at: now))
    }

    mutating func discovering(_ isOn: Bool, _ kinds: DiscoveryKinds = .interleaved) {
        take(machine.discovering(kinds, isOn: isOn, at: now))
    }

    mutating func settings(_ settings: ControllerSettings) { take(machine.settingsChanged(settings, at: now)) }
    mutating func heard() { take(machine.heard(at: now)) }
    mutating func wake() { take(machine.woke(at: now)) }

    /// Lets time pass and wakes the machine whenever it asked for that.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let wake = machine.nextWake, wake <= end {
            now = max(now, wake)
            let before = machine.nextWake
            take(machine.woke(at: now))
            // A machine that asks for the same moment again would keep a loop from all else.
            if machine.nextWake == before { break }
        }
        now = end
    }

    /// As `pass`, with a kernel that does what it is told and ends each discovery after ten seconds.
    mutating func live(_ duration: Duration, status: ManagementStatus = .success) {
        let end = now + duration
        while now < end {
            for _ in 0..<8 where !isAnswered { respond(status) }
            pass(.seconds(10))
            if case .startDiscovery(let kinds)? = sent.last, isAnswered { discovering(false, kinds) }
        }
    }

    private mutating func respond(_ status: ManagementStatus) {
        guard let command = sent.last else { return }
        switch command {
        case .readInfo: answer(status, ManagementSamples.bytes(of: Self.dual))
        case .startDiscovery(let kinds):
            answer(status)
            if status == .success { discovering(true, kinds) }
        default: answer(status)
        }
    }
}

extension AdapterTiming {
    static var withoutRests: AdapterTiming {
        var timing = AdapterTiming()
        timing.rest = .zero
        timing.round = timing.roundMax
        return timing
    }
}

extension Duration {
    /// Since the beginning.
    var moment: MonotonicTime { MonotonicTime(sinceOrigin: self) }
}
