package import CloudAPI
package import Domain
import FoundationEssentials
package import Gateway
import NIOHTTP1

extension CloudClient: RelayLink {
    package func watch(_ meter: MeterID, wantsAll: Bool) -> AsyncThrowingStream<RelayNews, any Error> {
        let path = readingsPath(meter) + (wantsAll ? "?all=true" : "")
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            let task = Task {
                do {
                    try await self.follow(path) { event in
                        guard let news = try RelayNews(event) else { return }
                        // A full buffer may drop an element: gaps in the batch numbers reveal lost batches, and all
                        // other events are repeated.
                        continuation.yield(news)
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func send(
        _ parcel: RelaySender.Parcel, of meter: MeterID, session: SessionID
    ) async throws(SyncFailure) -> Duration? {
        do throws(CallFailure) {
            let answer: RelayAnswer = try await attempt(
                .POST, readingsPath(meter), body: RelayRequest(parcel, session: session))
            return .remaining(milliseconds: answer.interest)
        } catch {
            if case .refused(let content) = error, content.code == .leaseLost { return nil }
            throw error.failure
        }
    }

    private func readingsPath(_ meter: MeterID) -> String {
        zonePath("meters/\(meter.description.urlPart)/readings")
    }
}

extension RelayRequest {
    package init(_ parcel: RelaySender.Parcel, session: SessionID) {
        self.init(
            session: session.description, token: parcel.token.rawValue, number: parcel.batch.number,
            missed: parcel.batch.missed, readings: parcel.batch.readings.map { RelayReadingBody($0) })
        model = parcel.batch.model
        state = parcel.batch.state
        shared = parcel.batch.isShared ? nil : false
    }
}

extension RelayReadingBody {
    package init(_ reading: RelayReading) {
        self.init(
            age: min(reading.age, RelayTiming.ageMax).milliseconds, time: reading.wallTime.millisecondsSince1970,
            values: reading.reading.byKey)
        guard let spread = reading.spread else { return }
        count = spread.count
        least = spread.least.byKey
        greatest = spread.greatest.byKey
    }

    package var reading: RelayReading {
        var reading = RelayReading(
            age: min(.milliseconds(max(0, age)), RelayTiming.ageMax), wallTime: WallTime(millisecondsSince1970: time),
            reading: Reading(byKey: values))
        if let count, count >= 2 {
            reading.spread = ReadingSpread(
                count: min(count, Int(Int32.max)), least: Reading(byKey: least ?? [:]),
                greatest: Reading(byKey: greatest ?? [:]))
        }
        return reading
    }
}

extension RelayNews {
    init?(_ event: ServerSentEvents.Event) throws {
        guard ["readings", "holder", "refused", "gap", "ping"].contains(event.name) else { return nil }
        self.init(try JSONDecoder().decode(RelayEventBody.self, from: Data(event.data.utf8)))
    }

    package init?(_ body: RelayEventBody) {
        if let batch = body.batch {
            guard let holder = HostID(batch.holderID), batch.token <= FencingToken.max.rawValue else { return nil }
            var relayed = RelayBatch(
                number: batch.number, missed: Self.count(batch.missed),
                readings: batch.readings.map(\.reading))
            relayed.model = batch.model
            relayed.state = batch.state
            relayed.isShared = batch.shared ?? true
            self = .readings(
                RelayObserver.Arrival(
                    epoch: batch.epoch, token: FencingToken(rawValue: batch.token), holder: holder,
                    holderName: batch.holderName, batch: relayed))
        } else if let holder = body.holder {
            guard let lease = LeaseView(holder) else { return nil }
            self = .holder(lease)
        } else if let name = body.refused {
            self = .refused(hostName: name)
        } else if let missed = body.missed {
            self = .lost(Self.count(missed))
        } else {
            self = .ping
        }
    }

    /// Limits a count so that sums cannot overflow.
    private static func count(_ given: Int) -> Int { min(max(0, given), Int(Int32.max)) }
}

extension Reading {
    fileprivate var byKey: [String: Double?] {
        var values: [String: Double?] = [:]
        forEach { quantity, value in values[quantity.key] = .some(value) }
        return values
    }

    fileprivate init(byKey values: [String: Double?]) {
        self.init()
        for quantity in Quantity.allCases {
            if let value = values[quantity.key] { self[quantity] = value }
        }
    }
}
