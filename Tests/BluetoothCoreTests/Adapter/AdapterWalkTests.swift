import BluetoothCore
import CoreTestKit
import Domain
import Testing

/// Any events in any order: what must always hold.
struct AdapterWalkTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func walk_keepsThePromises(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var walk = AdapterWalk()
        for _ in 0..<300 { walk.step(&rng) }
        #expect(walk.faults.isEmpty, "seed \(seed): \(walk.faults)")
    }

    /// After whatever happened, an adapter that works again searches again within its longest wait.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func walk_endsInSearching_onceAllIsWell(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var walk = AdapterWalk()
        for _ in 0..<100 { walk.step(&rng) }
        walk.heal()
        let before = walk.probe.sent.count
        walk.probe.live(.seconds(3700))
        walk.probe.heard()
        let began = walk.probe.sent.dropFirst(before).contains { if case .startDiscovery = $0 { true } else { false } }
        #expect(began, "seed \(seed): \(walk.probe.machine)")
        #expect(walk.probe.machine.state == .searching, "seed \(seed): \(walk.probe.machine)")
    }
}

extension AdapterWalkTests {
    /// One that is woken each second does the same, at the same time, as one that is woken when it asked for it.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func walk_isTheSame_howeverOftenItIsWoken(seed: UInt64) {
        for mode in SearchMode.allCases {
            var rng = SeededRNG(seed: seed)
            var pair = WokenPair(mode: mode, isShared: seed.isMultiple(of: 2))
            for _ in 0..<120 where pair.fault == nil { pair.step(&rng) }
            #expect(pair.fault == nil, "seed \(seed), \(mode)")
        }
    }
}

/// Two machines to which the same happens.
private struct WokenPair {
    private var often: AdapterProbe
    private var asAsked: AdapterProbe
    private(set) var fault: String?

    init(mode: SearchMode, isShared: Bool) {
        often = AdapterProbe(timing: AdapterTiming(), mode: mode, isShared: isShared)
        asAsked = often
    }

    mutating func step(_ rng: inout SeededRNG) {
        let event = Self.event(&rng)
        event(&often)
        event(&asAsked)
        let ticks = rng.below(8) == 0 ? rng.below(100) : rng.below(12)
        for _ in 0..<ticks where fault == nil {
            // All of the machine's times are whole seconds.
            often.now = often.now + .seconds(1)
            often.wake()
            asAsked.now = often.now
            if let wake = asAsked.machine.nextWake, wake <= asAsked.now { asAsked.wake() }
            compare()
        }
        compare()
    }

    private mutating func compare() {
        let (one, other) = (often, asAsked)
        if one.sent.count != other.sent.count || one.sent.last != other.sent.last {
            fault = "sent until \(one.now): \(one.sent.suffix(3)), \(other.sent.suffix(3))"
        } else if one.notes.count != other.notes.count || one.machine.state != other.machine.state {
            fault = "at \(one.now): \(one.notes), \(one.machine.state); \(other.notes), \(other.machine.state)"
        }
        let times = (one.machine.discoveryTime(at: one.now), other.machine.discoveryTime(at: one.now))
        if times.0 != times.1 { fault = "at \(one.now): \(times)" }
    }

    private static func event(_ rng: inout SeededRNG) -> (inout AdapterProbe) -> Void {
        let dual = AdapterProbe.dual
        let link = SlotKey(MACAddress(bits: UInt64(rng.below(3))), isClassic: rng.below(2) == 0)
        let kinds = [DiscoveryKinds.interleaved, .lowEnergy][rng.below(2)]
        switch rng.below(16) {
        case 0...4: return { $0.answer(.success, ManagementSamples.bytes(of: dual)) }
        case 5: return { [status = ManagementStatus(rawValue: UInt8(rng.below(0x16)))] in $0.answer(status) }
        case 6, 7: return { $0.discovering(true, kinds) }
        case 8: return { $0.discovering(false, kinds) }
        case 9: return { $0.settings(dual.current) }
        case 10:
            return { [isOff = rng.below(3) == 0] in $0.settings(isOff ? [.classic] : [.powered, .classic, .lowEnergy]) }
        case 11: return { $0.heard() }
        case 12: return { $0.take($0.machine.take(link, at: $0.now).actions) }
        case 13: return { $0.take($0.machine.linkUp(link, at: $0.now)) }
        case 14: return { $0.take($0.machine.giveBack(link, at: $0.now)) }
        default:
            let demand = [
                SearchDemand(), SearchDemand(missing: .interleaved, missingCount: 1),
                SearchDemand(missing: .lowEnergy, missingCount: 2), SearchDemand(hasFastStream: true),
                SearchDemand(hasDistant: true),
            ][rng.below(5)]
            let byHand = rng.below(3) == 0
            return { probe in
                var demand = demand
                if byHand { demand.byHandUntil = probe.now + .seconds(30) }
                probe.take(probe.machine.demandChanged(demand, at: probe.now))
            }
        }
    }
}

private struct AdapterWalk {
    var probe = AdapterProbe()
    var faults: [String] = []
    private var attempts: [SlotKey] = []

    mutating func step(_ rng: inout SeededRNG) {
        let before = (sent: probe.sent.count, isAnswered: probe.isAnswered)
        let time = probe.now
        event(&rng)
        // One command at most is out.
        let count = probe.sent.count - before.sent
        if count > 1, probe.now == time { faults.append("two commands at once") }
        if probe.machine.state != .blocked, probe.machine.nextWake == nil { faults.append("asleep for ever") }
        let state = probe.machine.state
        if state == .blocked || state == .forbidden || state == .failed, probe.machine.trouble == nil {
            faults.append("\(state) without a word")
        }
        if probe.machine.linkCount > 5 { faults.append("too many links") }
    }

    private mutating func event(_ rng: inout SeededRNG) {
        switch rng.below(20) {
        case 0...4: answer(&rng)
        case 5, 6: probe.discovering(rng.below(2) == 0, [.interleaved, .lowEnergy, .classic][rng.below(3)])
        case 7: probe.settings(ControllerSettings(rawValue: UInt32(rng.below(1024))))
        case 8: probe.settings(AdapterProbe.dual.current)
        case 9:
            let block = RadioBlock(isSoft: rng.below(3) == 0, isHard: rng.below(6) == 0)
            probe.take(probe.machine.blockChanged(block, at: probe.now))
        case 10: probe.heard()
        case 11: if rng.below(4) == 0 { probe.take(probe.machine.controllerFailed(code: 1, at: probe.now)) }
        case 12:
            let link = SlotKey(MACAddress(bits: UInt64(rng.below(8))), isClassic: rng.below(2) == 0)
            let (refusal, actions) = probe.machine.take(link, at: probe.now)
            probe.take(actions)
            if refusal == nil { attempts.append(link) }
        case 13: if let link = attempts.first { probe.take(probe.machine.linkUp(link, at: probe.now)) }
        case 14:
            if !attempts.isEmpty { probe.take(probe.machine.giveBack(attempts.removeFirst(), at: probe.now)) }
        case 15: probe.take(probe.machine.chipReset(isDone: rng.below(2) == 0, at: probe.now))
        case 16: probe.machine.allowChipReset([nil, .usbPort, .serialDevice][rng.below(3)])
        default: pass(rng.below(3) == 0 ? .seconds(rng.below(400)) : .milliseconds(rng.below(5000)))
        }
    }

    private mutating func answer(_ rng: inout SeededRNG) {
        let status = rng.below(2) == 0 ? ManagementStatus.success : .init(rawValue: UInt8(rng.below(0x16)))
        let info = rng.below(5) > 0 ? ManagementSamples.bytes(of: AdapterProbe.dual) : [1]
        probe.answer(status, info)
    }

    private mutating func pass(_ duration: Duration) {
        let end = probe.now + duration
        var turns = 0
        while let wake = probe.machine.nextWake, wake <= end {
            turns += 1
            if turns > 2000 {
                faults.append("it wakes without end")
                return
            }
            probe.now = max(probe.now, wake)
            probe.wake()
        }
        probe.now = end
    }

    mutating func heal() {
        probe.take(probe.machine.blockChanged(RadioBlock(), at: probe.now))
        for link in attempts { probe.take(probe.machine.giveBack(link, at: probe.now)) }
        probe.settings(AdapterProbe.dual.current)
    }
}
