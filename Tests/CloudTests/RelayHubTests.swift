import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Testing

@testable import Cloud

@Suite(.timeLimit(.minutes(10)))
struct RelayHubTests {
    @Test func observer_thatLeavesWhileItIsTold_holdsUpNobody() async throws {
        let meter = MeterPlace(zone: "home", meter: "00:15:A3:00:52:F7")
        try await leaveWhileTold {
            let hub = RelayHub(ended: { _, _ in }, changed: {})
            let event = RelayEventBody(serverTime: 1)
            let events = try hub.watch(meter, credential: "", wantsAll: false, first: event)
            return (Task { for await _ in events {} }, { hub.tell(event, of: meter) })
        }
    }

    private let first = RelayEventBody(serverTime: 1)
    private let now = MonotonicTime.origin + .seconds(1000)

    private func lease(of holder: UInt64) -> LeaseRecord {
        let holder = LeaseHolder(
            host: .numbered(holder), hostName: "host", session: .numbered(1), transport: .ble,
            acquiredAt: WallTime(millisecondsSince1970: 0))
        return LeaseRecord(
            state: .held(holder), token: FencingToken(rawValue: 1),
            terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: .keep), renewedAt: now,
            grants: [])
    }

    /// Meters that nobody has, watched in one zone, take no turn from those of another.
    @Test func watchedMetersOfOneZone_keepNoHolderOfAnotherFromHearingOfIt() throws {
        let hub = RelayHub(ended: { _, _ in }, changed: {})
        var streams: [RelaySubscription] = []
        for number in 0..<200 {
            let place = MeterPlace(zone: "away", meter: "meter \(number)")
            streams.append(try hub.watch(place, credential: "", wantsAll: false, first: first))
            _ = hub.update(nil, of: place, at: now)
        }
        let mine = MeterPlace(zone: "home", meter: "mine")
        streams.append(try hub.watch(mine, credential: "", wantsAll: false, first: first))
        _ = hub.update(lease(of: 1), of: mine, at: now)
        var seen = Set(hub.due(at: now + .seconds(10)))
        #expect(seen.contains(mine))
        // Each of the others has its turn too.
        for second in 11..<20 as Range<Int64> { seen.formUnion(hub.due(at: now + .seconds(second))) }
        #expect(seen.count == 201)
    }

    @Test func holderWithManyMeters_hearsOfSoManyAtOnceOnly_asItsEventsHaveRoomFor() throws {
        let hub = RelayHub(ended: { _, _ in }, changed: {})
        var streams: [RelaySubscription] = []
        for number in 0..<150 {
            let place = MeterPlace(zone: "home", meter: "meter \(number)")
            streams.append(try hub.watch(place, credential: "", wantsAll: false, first: first))
            _ = hub.update(lease(of: 1), of: place, at: now)
        }
        #expect(hub.due(at: now + .seconds(10)).count == EventBuffer.waitingMax / 4)
    }

    /// What is told to other copies has room for every zone.
    @Test func watchedMetersOfOneZone_areLimited() throws {
        let hub = RelayHub(ended: { _, _ in }, changed: {})
        var streams: [RelaySubscription] = []
        var refused = 0
        for number in 0..<17_000 {
            do throws(CloudFailure) {
                let place = MeterPlace(zone: "away", meter: "meter \(number)")
                streams.append(try hub.watch(place, credential: "", wantsAll: false, first: first))
            } catch {
                #expect(error.code == .limitExceeded)
                refused += 1
            }
        }
        #expect(refused == 17_000 - 4096)
        let mine = MeterPlace(zone: "home", meter: "mine")
        streams.append(try hub.watch(mine, credential: "", wantsAll: false, first: first))
        #expect(hub.watchedHere.contains { $0.zone == "home" })
    }
}
