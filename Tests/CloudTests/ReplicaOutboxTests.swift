import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import Cloud

/// What one copy of the cloud has to tell another.
struct ReplicaOutboxTests {
    private let place = MeterPlace(zone: "home", meter: TestCloud.meter)

    private func batch(_ number: UInt64, readings: Int = 1, missed: Int = 0) -> RelayEventBody {
        RelayEventBody(
            batch: .init(
                epoch: "e", token: 1, holderID: "h", holderName: "alpha", number: number, missed: missed,
                readings: Array(repeating: .volts(5), count: readings)))
    }

    private func taken(_ outbox: inout ReplicaOutbox) -> [ReplicaOutbox.Parcel] {
        var parcels: [ReplicaOutbox.Parcel] = []
        while let parcel = outbox.take() { parcels.append(parcel) }
        return parcels
    }

    @Test func firstWord_isWhatIsWatched() {
        var outbox = ReplicaOutbox()
        let begins = outbox.begin()
        let again = outbox.begin()
        #expect(begins)
        #expect(!again, "one word at a time")
        #expect(taken(&outbox) == [ReplicaOutbox.Parcel(tellsWatching: true)])
        let idle = outbox.begin()
        #expect(!idle, "nothing to tell")
        outbox.noteWatching()
        let once = outbox.begin()
        #expect(once)
    }

    @Test func wordThatCameMeanwhile_isToldNext() {
        var outbox = ReplicaOutbox()
        _ = outbox.begin()
        _ = outbox.take()
        outbox.add(batch(1), of: place)
        let begins = outbox.begin()
        #expect(!begins, "whoever tells goes on")
        #expect(taken(&outbox).map { $0.events.map(\.event.batch?.number) } == [[1]])
    }

    @Test func parcel_hasNoMoreReadingsThanOneBatchMay_andOneBatchAtLeast() {
        var outbox = ReplicaOutbox()
        for number in 1...3 { outbox.add(batch(UInt64(number), readings: 500), of: place) }
        outbox.add(batch(4, readings: 1000), of: place)
        for number in 5...90 { outbox.add(batch(UInt64(number)), of: place) }
        let counts = taken(&outbox).map(\.events.count)
        #expect(counts == [2, 1, 1, 64, 22])
    }

    @Test func whatWasLost_isCountedInTheMetersNextBatch() {
        var outbox = ReplicaOutbox()
        let other = MeterPlace(zone: "home", meter: "11:22:33:44:55:66")
        outbox.add(batch(1, readings: 3, missed: 2), of: place)
        outbox.add(RelayEventBody(refused: "beta"), of: place)
        let parcel = outbox.take()
        if let parcel { outbox.failed(parcel) }
        outbox.add(batch(1), of: other)
        outbox.add(batch(2), of: place)
        outbox.add(batch(3), of: place)
        let next = taken(&outbox)
        #expect(next.map(\.tellsWatching) == [true], "told again, as nobody knows whether it arrived")
        #expect(next.first?.events.map(\.event.batch?.missed) == [0, 5, 0])
    }

    @Test func count_staysWithinWhatABatchMaySay() {
        var outbox = ReplicaOutbox()
        for number in 1...3 {
            outbox.add(batch(UInt64(number), missed: Int(Int32.max)), of: place)
            if number < 3, let parcel = outbox.take() { outbox.failed(parcel) }
        }
        #expect(outbox.take()?.events.first?.event.batch?.missed == Int(Int32.max))
    }

    /// A zone with more than there is room for loses its own, and takes no turn from another.
    @Test func wordsOfOneZone_pushOutNoneOfAnother() {
        var outbox = ReplicaOutbox()
        let other = MeterPlace(zone: "away", meter: TestCloud.meter)
        outbox.add(batch(1), of: place)
        outbox.add(command(zone: "home"))
        outbox.add(ReplicaNewsBody.Listener(zone: "home", hostID: "mine"))
        for number in 1...3000 as ClosedRange<UInt64> {
            outbox.add(batch(number), of: other)
            outbox.add(command(zone: "away"))
            outbox.add(ReplicaNewsBody.Listener(zone: "away", hostID: "\(number)"))
        }
        let first = outbox.take()
        #expect(first?.events.contains { $0.zone == "home" } == true)
        #expect(first?.commands.count == 256 && first?.commands.contains { $0.zone == "home" } == true)
        #expect(first?.listeners.count == 256 && first?.listeners.contains { $0.zone == "home" } == true)
    }

    private func command(zone: String) -> ReplicaNewsBody.Command {
        let command = EventBody.Command(
            requestID: "", meter: "", token: 1, action: RelayActionBody(kind: "stopRecording"), hostID: "", hostName: ""
        )
        return ReplicaNewsBody.Command(zone: zone, holderID: "", command: command)
    }

    /// Whatever is lost on the way: what arrives and what is said to be missing are all that was measured, in order.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func walk_losesNothingUncounted(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var outbox = ReplicaOutbox()
        var (measured, arrived, missing) = (0, 0, 0)
        var last: UInt64 = 0
        func take() {
            guard let parcel = outbox.take() else { return }
            if Bool.random(using: &rng) { return outbox.failed(parcel) }
            for batch in parcel.events.compactMap(\.event.batch) {
                #expect(batch.number > last, "seed \(seed)")
                last = batch.number
                arrived += batch.readings.count
                missing += batch.missed
            }
        }
        var number: UInt64 = 0
        for _ in 0..<Int.random(in: 1...2500, using: &rng) {
            number += 1
            let readings = Int.random(in: 1...20, using: &rng)
            measured += readings
            outbox.add(batch(number, readings: readings), of: place)
            if Int.random(in: 0..<40, using: &rng) == 0 { take() }
        }
        // The last one arrives.
        number += 1
        measured += 1
        outbox.add(batch(number), of: place)
        for parcel in taken(&outbox) {
            for batch in parcel.events.compactMap(\.event.batch) {
                arrived += batch.readings.count
                missing += batch.missed
            }
        }
        #expect(arrived + missing == measured, "seed \(seed)")
    }
}
