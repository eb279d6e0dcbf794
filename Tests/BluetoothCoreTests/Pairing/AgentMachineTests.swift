import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct AgentMachineTests {
    private let meter = AgentDevice(adapter: 0, address: MACAddress(bits: 0x00_15A5_0005_92))
    private let other = AgentDevice(adapter: 1, address: MACAddress(bits: 0x77))

    /// One that bluetoothd asks.
    private func standing() -> AgentMachine {
        var machine = AgentMachine()
        _ = machine.daemonAppeared()
        _ = machine.begin(meter)
        _ = machine.paired(meter, false)
        _ = machine.registered(error: nil)
        _ = machine.becameDefault(error: nil)
        return machine
    }

    // MARK: Names

    @Test func path_isAsBluetoothdHasIt() {
        #expect(meter.path == "/org/bluez/hci0/dev_00_15_A5_00_05_92")
        #expect(AgentDevice(path: meter.path) == meter)
    }

    @Test(arguments: [
        "", "/", "/org/bluez/hci0", "/org/bluez/hci0/dev_00_15_A5_00_05", "/org/bluez/hci99999/dev_00_15_A5_00_05_92",
        "/org/bluez/hci0/dev_00_15_A5_00_05_92/sep1", "org/bluez/hci0/dev_00_15_A5_00_05_92",
        "/org/bluez/hci-1/dev_00_15_A5_00_05_92", "/org/bluez/hci0/dev_00_15_A5_00_05_9G",
        "/org/bluez/hci0/dev_0_15_A5_00_05_92", "/org/bluez/hci0/dev_00_15__A5_00_05_92",
        "/org/bluez/hci0/dev_00_15_A5_00_05_92_",
    ])
    func otherPath_isNoDevice(path: String) {
        #expect(AgentDevice(path: path) == nil)
    }

    // MARK: Standing

    @Test func withoutBluetoothd_linksAreMadeAtOnce() {
        var machine = AgentMachine()
        #expect(machine.begin(meter) == [.proceed(meter)])
        #expect(machine.standing == .noDaemon)
        #expect(machine.end(meter).isEmpty)
    }

    @Test func agent_stands_beforeTheLinkIsMade_andLeavesAfterwards() {
        var machine = AgentMachine()
        #expect(machine.daemonAppeared().isEmpty)
        #expect(machine.begin(meter) == [.askWhetherPaired(meter)])
        #expect(machine.paired(meter, false) == [.register])
        #expect(machine.registered(error: nil) == [.requestDefault])
        #expect(!machine.answers(for: meter))
        #expect(machine.becameDefault(error: nil) == [.proceed(meter)])
        #expect(machine.answers(for: meter))
        #expect(machine.end(meter) == [.unregister])
        #expect(!machine.answers(for: meter))
        #expect(machine.left().isEmpty)
        #expect(machine.standing == .ready)
    }

    @Test func pairedMeter_needsNoAgent() {
        var machine = AgentMachine()
        _ = machine.daemonAppeared()
        _ = machine.begin(meter)
        #expect(machine.paired(meter, true) == [.proceed(meter)])
        #expect(machine.end(meter).isEmpty)
    }

    @Test func secondMeter_findsTheAgentStanding_whichLeavesWithTheLast() {
        var machine = standing()
        #expect(machine.begin(other) == [.askWhetherPaired(other)])
        #expect(machine.paired(other, false) == [.proceed(other)])
        #expect(machine.end(meter).isEmpty)
        #expect(machine.end(other) == [.unregister])
    }

    @Test func meterThatComesWhileItLeaves_hasItRegisteredAnew() {
        var machine = standing()
        #expect(machine.end(meter) == [.unregister])
        _ = machine.begin(other)
        #expect(machine.paired(other, false).isEmpty)
        #expect(machine.left() == [.register])
        _ = machine.registered(error: nil)
        #expect(machine.becameDefault(error: nil) == [.proceed(other)])
    }

    @Test func meterThatGivesUpMeanwhile_hasTheAgentLeave() {
        var machine = AgentMachine()
        _ = machine.daemonAppeared()
        _ = machine.begin(meter)
        _ = machine.paired(meter, false)
        #expect(machine.end(meter).isEmpty)
        _ = machine.registered(error: nil)
        #expect(machine.becameDefault(error: nil) == [.unregister])
    }

    @Test func busThatSaysNothingYet_isWaitedFor() {
        var machine = AgentMachine()
        machine.busOpened()
        #expect(machine.begin(meter).isEmpty)
        #expect(machine.daemonAppeared() == [.askWhetherPaired(meter)])
        machine = AgentMachine()
        machine.busOpened()
        #expect(machine.begin(meter).isEmpty)
        #expect(machine.daemonVanished() == [.proceed(meter)])
    }

    // MARK: What goes wrong

    @Test func refusal_isRemembered_keepsNoLinkWaiting_andIsTriedAgain() {
        var machine = AgentMachine()
        _ = machine.daemonAppeared()
        _ = machine.begin(meter)
        _ = machine.paired(meter, false)
        #expect(machine.registered(error: "no") == [.proceed(meter)])
        #expect(machine.standing == .refused)
        #expect(machine.refusal == "no")
        #expect(!machine.answers(for: meter))
        _ = machine.end(meter)
        _ = machine.begin(meter)
        #expect(machine.paired(meter, false) == [.register])
        _ = machine.registered(error: nil)
        _ = machine.becameDefault(error: nil)
        #expect(machine.refusal == nil)
    }

    @Test func bluetoothdThatGoes_keepsNoLinkWaiting_andAnotherIsAskedAnew() {
        var machine = AgentMachine()
        _ = machine.daemonAppeared()
        _ = machine.begin(meter)
        _ = machine.paired(meter, false)
        #expect(machine.daemonVanished() == [.proceed(meter)])
        #expect(machine.registered(error: nil).isEmpty)
        #expect(machine.end(meter).isEmpty)
        #expect(machine.daemonAppeared().isEmpty)
        #expect(machine.begin(meter) == [.askWhetherPaired(meter)])
    }

    @Test func lateAnswers_meanNothing() {
        var machine = AgentMachine()
        #expect(machine.paired(meter, false).isEmpty)
        #expect(machine.registered(error: nil).isEmpty)
        #expect(machine.becameDefault(error: nil).isEmpty)
        #expect(machine.left().isEmpty)
    }

    /// Whatever happens in whatever order: each link goes on at most once, and once bluetoothd is gone none waits.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func walk_tellsEachLinkOnce(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var machine = AgentMachine()
        var waiting: Set<AgentDevice> = []
        func take(_ actions: [AgentMachine.Action]) {
            for case .proceed(let device) in actions {
                #expect(waiting.remove(device) != nil, "told twice, or never asked")
            }
        }
        for _ in 0..<200 {
            let device = rng.below(2) == 0 ? meter : other
            switch rng.below(9) {
            case 0: take(machine.daemonAppeared())
            case 1: take(machine.daemonVanished())
            case 2:
                waiting.insert(device)
                take(machine.begin(device))
            case 3:
                waiting.remove(device)
                take(machine.end(device))
            case 4: take(machine.paired(device, rng.below(3) == 0))
            case 5: take(machine.registered(error: rng.below(4) == 0 ? "no" : nil))
            case 6: take(machine.becameDefault(error: rng.below(4) == 0 ? "no" : nil))
            case 7: machine.busOpened()
            default: take(machine.left())
            }
        }
        take(machine.daemonVanished())
        #expect(waiting.isEmpty)
    }

    /// With a bluetoothd that answers, whatever begins and ends meanwhile and however often it is restarted: a meter without
    /// a bond goes on only while the agent stands, every one goes on, and the agent leaves with the last.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func walk_standsForWhomItMust_andForNobodyElse(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var machine = AgentMachine()
        let devices = (0..<4).map { AgentDevice(adapter: $0, address: MACAddress(bits: UInt64($0))) }
        var waiting: Set<AgentDevice> = []
        var present: Set<AgentDevice> = []
        var asked: [AgentMachine.Action] = []
        var isThere = false
        func isBonded(_ device: AgentDevice) -> Bool { device.adapter == 3 }
        func take(_ actions: [AgentMachine.Action]) {
            for action in actions {
                guard case .proceed(let device) = action else {
                    asked.append(action)
                    continue
                }
                #expect(waiting.remove(device) != nil, "seed \(seed)")
                let isReady = !isThere || isBonded(device) || machine.answers(for: device)
                #expect(isReady, "seed \(seed): too early")
            }
        }
        func answer() {
            guard isThere, !asked.isEmpty else { return }
            switch asked.removeFirst() {
            case .askWhetherPaired(let device): take(machine.paired(device, isBonded(device)))
            case .register: take(machine.registered(error: nil))
            case .requestDefault: take(machine.becameDefault(error: nil))
            case .unregister: take(machine.left())
            case .proceed: break
            }
        }
        for _ in 0..<300 {
            let device = devices[rng.below(devices.count)]
            switch rng.below(12) {
            case 0 where !isThere:
                isThere = true
                asked = []
                take(machine.daemonAppeared())
            case 1 where isThere:
                isThere = false
                take(machine.daemonVanished())
                #expect(waiting.isEmpty, "seed \(seed)")
            case 2, 3:
                waiting.insert(device)
                present.insert(device)
                take(machine.begin(device))
            case 4, 5:
                waiting.remove(device)
                present.remove(device)
                take(machine.end(device))
            default: answer()
            }
            // Its place in the talk is what it says of itself.
            #expect((machine.standing == .noDaemon) == !isThere, "seed \(seed)")
        }
        while isThere, !asked.isEmpty { answer() }
        #expect(waiting.isEmpty, "seed \(seed): they wait for ever")
        let needs = present.contains { !isBonded($0) && machine.answers(for: $0) }
        if isThere { #expect(machine.standing == (needs ? .standing : .ready), "seed \(seed)") }
        for device in present { take(machine.end(device)) }
        while isThere, !asked.isEmpty { answer() }
        #expect(machine.standing == (isThere ? .ready : .noDaemon), "seed \(seed)")
    }

    /// Whichever step it refuses: it is said until it agrees, and a bluetoothd that comes anew has refused nothing.
    @Test(arguments: [true, false])
    func refusal_isOfTheLastTry(isRegistration: Bool) {
        var machine = AgentMachine()
        func refuse(_ words: String) -> [AgentMachine.Action] {
            guard !isRegistration else { return machine.registered(error: words) }
            _ = machine.registered(error: nil)
            return machine.becameDefault(error: words)
        }
        _ = machine.daemonAppeared()
        for words in ["no", "never"] {
            _ = machine.begin(meter)
            #expect(machine.paired(meter, false) == [.register])
            // What was refused before is still true while it is tried again.
            #expect(machine.standing == (words == "no" ? .ready : .refused))
            #expect(refuse(words) == [.proceed(meter)])
            #expect(machine.refusal == words)
            #expect(machine.standing == .refused)
            // Nobody else waits for it.
            _ = machine.begin(other)
            #expect(machine.end(other).isEmpty)
            #expect(machine.end(meter).isEmpty)
            #expect(machine.standing == .refused)
        }
        _ = machine.daemonVanished()
        #expect(machine.standing == .noDaemon)
        _ = machine.daemonAppeared()
        #expect(machine.refusal == nil)
        #expect(machine.standing == .ready)
    }

    @Test func standing_isSaidOfEachStep() {
        var machine = AgentMachine()
        var standings: [AgentMachine.Standing] = [machine.standing]
        func note() { standings.append(machine.standing) }
        machine.busOpened()
        note()
        _ = machine.daemonAppeared()
        note()
        _ = machine.begin(meter)
        _ = machine.paired(meter, false)
        note()
        _ = machine.registered(error: nil)
        note()
        _ = machine.becameDefault(error: nil)
        note()
        _ = machine.end(meter)
        note()
        _ = machine.left()
        note()
        #expect(standings == [.noDaemon, .noDaemon, .ready, .ready, .ready, .standing, .ready, .ready])
    }

    // MARK: Answers

    @Test func onlyMetersThatALinkIsMadeTo_getAnAnswer() {
        let machine = standing()
        #expect(machine.answer(.pinCode(meter)) == .pin)
        #expect(machine.answer(.confirmation(meter)) == .agreed)
        #expect(machine.answer(.pinCode(other)) == .rejected)
        #expect(machine.answer(.pinCode(nil)) == .rejected)
        #expect(machine.answer(.confirmation(other)) == .rejected)
        #expect(machine.answer(.other) == .rejected)
        #expect(machine.answer(.cancel) == .agreed)
    }

    @Test func daemonThatGoesOrReleases_isAgreedTo() { #expect(standing().answer(.release) == .agreed) }
}
