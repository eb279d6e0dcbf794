import Domain
import LinuxIO
import MeterTestKit
import Testing

struct NetworkRouteTests {
    @Test func loopback_isAPath() {
        #expect(NetworkRoute.path(to: "127.0.0.1") == NetworkPath(isSatisfied: true, interface: "lo", kind: .other))
    }

    @Test(arguments: ["", "no address", "999.1.1.1", "255.255.255.255.255"])
    func nonsense_isNoPath(address: String) {
        #expect(NetworkRoute.path(to: address) == .lost)
        #expect(!NetworkRoute.isNumeric(address))
    }

    @Test func numericAddress_isKnownAsOne() {
        #expect(NetworkRoute.isNumeric("192.0.2.1"))
        #expect(NetworkRoute.isNumeric("2001:db8::1"))
        #expect(!NetworkRoute.isNumeric("cloud.example"))
    }

    @Test func name_isResolvedToText() {
        #expect(NetworkRoute.resolve("127.0.0.9") == ["127.0.0.9"])
    }
}
