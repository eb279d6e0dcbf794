import CloudAPI
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
}
