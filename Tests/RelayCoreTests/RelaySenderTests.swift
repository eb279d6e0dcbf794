import CoreTestKit
import Domain
import Testing

/// What the holder of a watched meter sends, and when.
struct RelaySenderTests {
    private let token = FencingToken(rawValue: 5)

    @Test func reading_goesOutAtOnce_andTheNextAfterTheInterval() {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(5, at: .seconds(1)), under: token)
        let first = sender.next(under: token, at: .seconds(1))
        if let first { sender.sent(first, .taken, at: .seconds(1)) }
        sender.received(.volts(6, at: .seconds(1.1)), under: token)
        let early = sender.next(under: token, at: .seconds(1.1))
        let wake = sender.nextWake
        let second = sender.next(under: token, at: .seconds(1.25))

        #expect(first?.batch.readings.map { $0.reading[.voltage] } == [5])
        #expect(first?.batch.number == 1000)
        #expect(early == nil)
        #expect(wake == .seconds(1.25))
        #expect(second?.batch.number == 1250)
        #expect(second?.batch.readings.map(\.age) == [.milliseconds(150)])
    }

    @Test func nothing_isSent_withoutALease_orOnceNobodyWatches() {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(4, at: .seconds(1)), under: nil)
        let unleased = sender.next(under: nil, at: .seconds(1))
        let later = sender.next(under: token, at: .seconds(1))
        sender.received(.volts(5, at: .seconds(30)), under: token)
        let over = sender.next(under: token, at: .seconds(30))

        #expect(unleased == nil)
        #expect(later == nil, "what was measured without a lease is not kept for one")
        #expect(over == nil)
        #expect(sender.nextWake == nil)
    }

    @Test func newState_isToldWithoutAReading_atMostEveryFiveSeconds() {
        var sender = RelaySender(until: .seconds(60), sendsAll: false)
        func next(_ state: String, at seconds: Double) -> RelaySender.Parcel? {
            let parcel = sender.next(under: token, state: state, at: .seconds(seconds))
            if let parcel { sender.sent(parcel, .taken, at: .seconds(seconds)) }
            return parcel
        }
        let first = next("connecting", at: 1)
        let same = next("connecting", at: 10)
        let changed = next("connected", at: 11)
        let soon = next("ready", at: 15.9)
        let late = next("ready", at: 16)
        sender.received(.volts(5, at: .seconds(17)), under: token)
        let reading = next("data-available", at: 17)

        #expect(first?.batch.state == "connecting")
        #expect(first?.batch.readings.isEmpty == true)
        #expect(same == nil)
        #expect(changed?.batch.state == "connected")
        #expect(soon == nil)
        #expect(late?.batch.state == "ready")
        #expect(reading?.batch.state == "data-available", "with a reading it comes at once")
    }

    /// A meter at a thousand samples a second, over a network that takes 100 ms and loses a batch in five: four batches a
    /// second at most, and what is in them and was said to be missing is all that was measured.
    @Test(arguments: [false, true])
    func fastMeter_isSentFourTimesASecond_andEveryMeasurementIsAccountedFor(wantsAll: Bool) {
        var sender = RelaySender(until: .seconds(60), sendsAll: wantsAll)
        var underWay: (parcel: RelaySender.Parcel, end: MonotonicTime)?
        var arrived: [RelayBatch] = []
        var sent = 0
        func turn(_ now: MonotonicTime) {
            if let (parcel, end) = underWay, end <= now {
                underWay = nil
                let isLost = sent % 5 == 0
                if !isLost { arrived.append(parcel.batch) }
                sender.sent(parcel, isLost ? .failed : .taken, at: now)
            }
            if let parcel = sender.next(under: token, at: now) {
                sent += 1
                underWay = (parcel, now + .milliseconds(100))
            }
        }
        for millisecond in 1...10_000 {
            let now = MonotonicTime.seconds(Double(millisecond) / 1000)
            sender.received(.volts(Double(millisecond), at: now), under: token)
            turn(now)
        }
        let inTenSeconds = sent
        for step in 1...40 { turn(.seconds(10 + Double(step) / 10)) }
        let readings = arrived.flatMap(\.readings)
        let measurements = readings.reduce(0) { $0 + ($1.spread?.count ?? 1) }

        #expect(inTenSeconds <= 41)
        #expect(inTenSeconds >= 25)
        #expect(measurements + arrived.reduce(0) { $0 + $1.missed } == 10_000)
        #expect(wantsAll ? readings.count == measurements : readings.count <= 4 * arrived.count)
        #expect(arrived.allSatisfy { $0.readings.count <= RelayTiming.readingsMax })
    }

    @Test func stateThatGotLost_isToldAgain() {
        var sender = RelaySender(until: .seconds(60), sendsAll: false)
        let lost = sender.next(under: token, state: "ready", at: .seconds(1))
        if let lost { sender.sent(lost, .failed, at: .seconds(2)) }
        let again = sender.next(under: token, state: "ready", at: .seconds(7))
        #expect(again?.batch.state == "ready")
    }

    @Test func oneBatch_isOnItsWay_atATime() {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(5, at: .seconds(1)), under: token)
        let first = sender.next(under: token, at: .seconds(1))
        sender.received(.volts(6, at: .seconds(2)), under: token)
        let meanwhile = sender.next(under: token, at: .seconds(9))
        let wake = sender.nextWake
        if let first { sender.sent(first, .taken, at: .seconds(9)) }

        #expect(meanwhile == nil)
        #expect(wake == nil)
        #expect(sender.next(under: token, at: .seconds(9))?.batch.readings.count == 1)
    }

    @Test func manyReadings_becomeOne_withMeanLeastAndGreatest() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        for step in 1...RelayTiming.singlesMax { sender.received(.volts(Double(step), at: .seconds(1)), under: token) }
        var singles = sender
        sender.received(.volts(10, at: .seconds(1.2)), under: token)
        let parcel = try sender.due(under: token, at: .seconds(1.25))
        let folded = try #require(parcel.batch.readings.first)

        #expect(singles.next(under: token, at: .seconds(1.25))?.batch.readings.count == RelayTiming.singlesMax)
        #expect(parcel.batch.readings.count == 1)
        #expect(folded.reading[.voltage] == 4)
        #expect(folded.spread?.least[.voltage] == 1)
        #expect(folded.spread?.greatest[.voltage] == 10)
        #expect(folded.spread?.count == RelayTiming.singlesMax + 1)
        #expect(folded.age == .milliseconds(50))
    }

    @Test func fold_countsOnlyKnownValues_andKeepsUnknownOnesUnknown() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        for step in 0..<6 {
            var reading = Reading()
            reading[.voltage] = step < 2 ? 6 : nil
            reading[.temperature] = nil
            sender.received(TimedReading(wallTime: .zero, time: .seconds(1), reading: reading), under: token)
        }
        let parcel = try sender.due(under: token, at: .seconds(1))
        let folded = try #require(parcel.batch.readings.first)

        #expect(folded.reading[.voltage] == 6)
        #expect(folded.reading[.temperature] == nil)
        #expect(folded.reading.supported.contains(.temperature))
    }

    @Test func everyReading_isSent_whereAnObserverWantsAll_boundedAndCounted() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: true)
        for step in 0..<(RelayTiming.readingsMax + 7) {
            sender.received(.volts(Double(step), at: .seconds(1)), under: token)
        }
        let batch = try sender.due(under: token, at: .seconds(1)).batch

        #expect(batch.readings.count == RelayTiming.readingsMax)
        #expect(batch.missed == 7)
        #expect(batch.readings.first?.reading[.voltage] == 7, "the newest stay")
    }

    @Test func failedBatch_isCountedAsMissed_once_andWaitedFor() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        for _ in 0..<3 { sender.received(.volts(5, at: .seconds(1)), under: token) }
        let first = try sender.due(under: token, at: .seconds(1))
        sender.sent(first, .failed, at: .seconds(2))
        sender.received(.volts(5, at: .seconds(2)), under: token)
        let early = sender.next(under: token, at: .seconds(2.5))
        let second = try sender.due(under: token, at: .seconds(3))
        sender.sent(second, .taken, at: .seconds(3))
        sender.received(.volts(5, at: .seconds(4)), under: token)

        #expect(early == nil)
        #expect(second.batch.missed == 3)
        #expect(sender.next(under: token, at: .seconds(4))?.batch.missed == 0)
    }

    @Test func refusedToken_isNotUsedAgain_butANewerOneIs() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(5, at: .seconds(1)), under: token)
        let first = try sender.due(under: token, at: .seconds(1))
        sender.sent(first, .refused, at: .seconds(1))
        sender.received(.volts(5, at: .seconds(2)), under: token)
        let again = sender.next(under: token, state: "ready", at: .seconds(20))
        sender.received(.volts(7, at: .seconds(21)), under: FencingToken(rawValue: 6))
        let newer = sender.next(under: FencingToken(rawValue: 6), at: .seconds(21))

        #expect(again == nil, "nor for a new state")
        #expect(newer?.batch.readings.map { $0.reading[.voltage] } == [7])
    }

    @Test func newToken_dropsWhatWaited() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(5, at: .seconds(1)), under: token)
        let first = try sender.due(under: token, at: .seconds(1))
        sender.sent(first, .taken, at: .seconds(1))
        sender.received(.volts(6, at: .seconds(2)), under: token)
        sender.received(.volts(7, at: .seconds(2)), under: FencingToken(rawValue: 6))
        let next = try sender.due(under: FencingToken(rawValue: 6), at: .seconds(3))

        #expect(next.batch.readings.map { $0.reading[.voltage] } == [7])
    }

    /// Mean, least, greatest and number of any readings, some of which know less, as a list of all of them has it.
    @Test func fold_isAsAllItsReadingsSay() throws {
        var rng = SeededRNG(seed: 5)
        let quantities = [Quantity.voltage, .current, .temperature]
        for round in 0..<100 {
            var sender = RelaySender(until: .seconds(30), sendsAll: false)
            var values: [Quantity: [Double?]] = [:]
            let count = Int.random(in: 5...9, using: &rng)
            for step in 0..<count {
                var reading = Reading()
                for quantity in quantities where Int.random(in: 0..<3, using: &rng) > 0 {
                    let value =
                        Int.random(in: 0..<3, using: &rng) == 0 ? nil : Double(Int.random(in: -9...9, using: &rng))
                    reading[quantity] = value
                    values[quantity, default: []].append(value)
                }
                let time = MonotonicTime.seconds(1 + Double(step) / 100)
                sender.received(
                    TimedReading(wallTime: .zero + .seconds(step), time: time, reading: reading), under: token)
            }
            // A reading of a moment that has not come yet is as old as none.
            let isEarly = round.isMultiple(of: 3)
            let now = MonotonicTime.seconds(isEarly ? 1 : 1 + Double(count) / 100)
            let parcel = try sender.due(under: token, at: now)
            let folded = try #require(parcel.batch.readings.first)
            #expect(parcel.batch.readings.count == 1)
            #expect(folded.age == .milliseconds(isEarly ? 0 : 10))
            #expect(folded.wallTime == .zero + .seconds(count - 1))
            #expect(folded.spread?.count == count)
            for quantity in quantities {
                let known = values[quantity]?.compactMap(\.self) ?? []
                #expect(folded.reading.supported.contains(quantity) == (values[quantity] != nil))
                let mean = known.isEmpty ? nil : known.reduce(0, +) / Double(known.count)
                #expect(folded.reading[quantity] == mean)
                #expect(folded.spread?.least[quantity] == known.min())
                #expect(folded.spread?.greatest[quantity] == known.max())
            }
        }
    }

    /// What observers want may change at any time: from then on it is so, and an earlier end counts too.
    @Test func interest_mayChange() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.interested(until: .seconds(60), sendsAll: true)
        #expect(sender.until == .seconds(60) && sender.sendsAll)
        for step in 1...9 { sender.received(.volts(Double(step), at: .seconds(40)), under: token) }
        sender.lost(2)
        let parcel = sender.next(under: token, model: "um25c", state: "ready", at: .seconds(41))
        let batch = try #require(parcel).batch
        #expect(batch.readings.map { $0.reading[.voltage] } == (1...9).map(Double.init))
        #expect(batch.readings.allSatisfy { $0.age == .seconds(1) && $0.spread == nil })
        #expect(batch.missed == 2 && batch.model == "um25c" && batch.state == "ready" && batch.isShared)

        sender.interested(until: .seconds(50), sendsAll: false)
        if let parcel { sender.sent(parcel, .taken, at: .seconds(41)) }
        for _ in 1...9 { sender.received(.volts(5, at: .seconds(49)), under: token) }
        var early = sender
        #expect(try early.due(under: token, at: .seconds(49.999)).batch.readings.count == 1)
        let over = sender.next(under: token, at: .seconds(50))
        #expect(over == nil)
        #expect(RelayBatch(at: .seconds(1.5), missed: 0, readings: []).number == 1500)
        #expect(RelayBatch(number: 1, missed: 0, readings: []).isShared)
        #expect(sender.nextWake == nil, "what nobody watches does not wait")
    }

    /// Without a lease nothing waits, nothing is counted, and what was missed under another token is not said under this one.
    @Test func losses_areOfOneToken() throws {
        var sender = RelaySender(until: .seconds(30), sendsAll: false)
        sender.received(.volts(5, at: .seconds(1)), under: token)
        sender.lost(4)
        let other = FencingToken(rawValue: 6)
        sender.received(.volts(5, at: .seconds(2)), under: other)
        let batch = try sender.due(under: other, at: .seconds(2)).batch
        #expect(batch.missed == 0)
        #expect(batch.readings.count == 1)
        let waits = sender.nextWake
        #expect(waits == nil)
    }

    @Test func times_areThoseOfTheDocumentation() {
        #expect(RelayTiming.batchInterval == .milliseconds(250))
        #expect(RelayTiming.interest == .seconds(30))
        #expect(RelayTiming.singlesMax == 4)
        #expect(RelayTiming.readingsMax == 1000)
        #expect(RelayTiming.stateInterval == .seconds(5))
        #expect(RelayTiming.retryInterval == .seconds(1))
        #expect(RelayTiming.actingTime == .seconds(5))
        #expect(RelayTiming.ageMax == .seconds(60))
        #expect(RelayTiming.logLinesMax == 500)
        #expect(RelayTiming.logBytesMax == 128 << 10)
        #expect(RelayTiming.logLineBytes == 160)
    }

    /// Whatever comes in whatever order: what is shown and what is counted as missed is all that was measured, batches
    /// keep their distance, and none is larger than allowed.
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func walk_losesNothingUncounted(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var sender = RelaySender(until: .seconds(100_000), sendsAll: seed.isMultiple(of: 2))
        var (now, measured, arrived, underWay) = (MonotonicTime.origin, 0, 0, RelaySender.Parcel?.none)
        var lastSent: MonotonicTime?
        for _ in 0..<20_000 {
            now = now + .milliseconds(Int.random(in: 0...120, using: &rng))
            switch Int.random(in: 0..<10, using: &rng) {
            case 0..<6:
                sender.received(.volts(1, at: now), under: token)
                measured += 1
            case 6..<8:
                guard let parcel = underWay else { continue }
                underWay = nil
                let isTaken = Bool.random(using: &rng)
                if isTaken { arrived += parcel.count }
                sender.sent(parcel, isTaken ? .taken : .failed, at: now)
            default:
                guard let parcel = sender.next(under: token, at: now) else { continue }
                #expect(underWay == nil)
                #expect(lastSent.map { now - $0 >= RelayTiming.batchInterval } ?? true)
                #expect(parcel.batch.readings.count <= RelayTiming.readingsMax)
                lastSent = now
                underWay = parcel
            }
        }
        // The last batch brings what is still missing.
        if let parcel = underWay { sender.sent(parcel, .failed, at: now) }
        now = now + .seconds(10)
        sender.received(.volts(1, at: now), under: token)
        let last = sender.next(under: token, at: now)
        #expect(arrived + (last?.count ?? 0) == measured + 1, "seed \(seed)")
    }
}

extension RelaySender {
    /// The batch that has to be due.
    fileprivate mutating func due(under token: FencingToken, at now: MonotonicTime) throws -> Parcel {
        let parcel = next(under: token, at: now)
        return try #require(parcel)
    }
}

extension RelaySender.Parcel {
    /// Measurements in it, and those that it says are missing.
    fileprivate var count: Int { batch.missed + batch.readings.reduce(0) { $0 + ($1.spread?.count ?? 1) } }
}
