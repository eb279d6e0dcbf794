import CloudAPI
import CloudClient
import Domain
import Foundation
import Gateway
import Testing

/// What crosses the network of a watched meter, and back (Docs/Relay.md).
struct RelayNewsTests {
    private func reading(_ volts: Double) -> Reading {
        var reading = Reading()
        reading[.voltage] = volts
        reading[.temperature] = nil
        return reading
    }

    private func batch(_ change: (inout RelayEventBody.Batch) -> Void = { _ in }) -> RelayEventBody {
        var batch = RelayEventBody.Batch(
            epoch: "e", token: 5, holderID: "00000000-0000-4000-8000-000000000001", holderName: "alpha", number: 7,
            missed: 3, readings: [])
        change(&batch)
        return RelayEventBody(batch: batch)
    }

    private func arrival(_ body: RelayEventBody) throws -> RelayObserver.Arrival? {
        // Through the text that is sent.
        let sent = try JSONDecoder().decode(RelayEventBody.self, from: JSONEncoder().encode(body))
        guard case .readings(let arrival)? = RelayNews(sent) else { return nil }
        return arrival
    }

    @Test func readings_arriveAsTheyWereSent() throws {
        let folded = RelayReading(
            age: .milliseconds(20), wallTime: WallTime(millisecondsSince1970: 5), reading: reading(5),
            spread: ReadingSpread(count: 12, least: reading(4), greatest: reading(6)))
        let single = RelayReading(
            age: .zero, wallTime: WallTime(millisecondsSince1970: -1), reading: reading(1e-9))
        var sent = RelayBatch(number: 9, missed: 2, readings: [folded, single])
        sent.model = "UM25C"
        let parcel = RelaySender.Parcel(token: FencingToken(rawValue: 5), batch: sent)
        let request = RelayRequest(parcel, session: SessionID(high: 0x4000, low: 1))

        let arrived = try arrival(
            batch {
                $0.number = request.number
                $0.missed = request.missed
                $0.model = request.model
                $0.readings = request.readings
            })

        let arrival = try #require(arrived)
        #expect(request.token == 5)
        #expect(arrival.batch == sent)
        #expect(arrival.holderName == "alpha")
    }

    /// Another version, or a hostile one, may say anything.
    @Test func absurdNumbers_areBounded_andTrapNothing() throws {
        var absurd = RelayReadingBody(age: .min, time: .min, values: ["voltage_V": 5, "no such": 1, "power_W": nil])
        absurd.count = .max
        var old = RelayReadingBody(age: .max, time: .max, values: [:])
        old.count = -1
        let arrived = try arrival(
            batch {
                $0.missed = .min
                $0.number = .max
                $0.readings = [absurd, old]
            })

        let arrival = try #require(arrived)
        #expect(arrival.batch.missed == 0)
        #expect(arrival.batch.readings.map(\.age) == [.zero, RelayTiming.ageMax])
        #expect(arrival.batch.readings[0].reading[.voltage] == 5)
        #expect(arrival.batch.readings[0].reading.supported.contains(.power))
        #expect(arrival.batch.readings[0].spread?.count == Int(Int32.max))
        #expect(arrival.batch.readings[1].spread == nil, "of one measurement there is no spread")
        var observer = RelayObserver()
        #expect(observer.received(arrival) == .show(missed: 0))
    }

    @Test func batches_thatCannotBeRead_areNoReadings() throws {
        #expect(try arrival(batch { $0.token = FencingToken.max.rawValue + 1 }) == nil)
        #expect(try arrival(batch { $0.holderID = "nobody" }) == nil)
    }

    @Test func otherEvents_areToldApart() throws {
        #expect(RelayNews(RelayEventBody(refused: "beta")) == .refused(hostName: "beta"))
        #expect(RelayNews(RelayEventBody(missed: -4)) == .lost(0))
        #expect(RelayNews(RelayEventBody(missed: 4)) == .lost(4))
        #expect(RelayNews(RelayEventBody(serverTime: 1)) == .ping)
    }

    @Test func interest_isBounded() {
        let meter = "02:00:00:00:25:0C"
        func remaining(_ milliseconds: Int64) -> Duration? {
            let body = EventBody(interest: EventBody.Interest(meter: meter, remaining: milliseconds, all: true))
            guard case .interest(_, let remaining, true)? = CloudEvent(body) else { return nil }
            return remaining
        }

        #expect(remaining(30_000) == .seconds(30))
        #expect(remaining(.min) == .zero)
        #expect(remaining(.max) == .seconds(86_400))
        #expect(CloudEvent(EventBody(interest: EventBody.Interest(meter: "?", remaining: 1, all: false))) == nil)
    }
}
