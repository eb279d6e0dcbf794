import Domain
import GatewayServer
import Testing

struct LoginGuessesTests {
    private let now = MonotonicTime.origin
    private let network = "2001:db8:0:1::/64"

    @Test func address_isSlowedDown_byItsOwnGuesses() {
        var guesses = LoginGuesses(at: now)
        for _ in 0..<10 { #expect(guesses.take("2001:db8:0:1::1", in: network, at: now) == nil) }
        #expect(guesses.wait(of: "2001:db8:0:1::1", at: now) == .seconds(10))
        #expect(guesses.take("2001:db8:0:1::1", in: network, at: now) == .seconds(10))
        #expect(guesses.wait(of: "2001:db8:0:1::1", at: now + .seconds(10)) == nil)
    }

    @Test func deviceWithManyAddresses_keepsItsNeighboursNotOut() {
        var guesses = LoginGuesses(at: now)
        let waits = (0..<50_000).map { guesses.take("2001:db8:0:1::\($0)", in: network, at: now) }
        #expect(waits.count { $0 == nil } == 100)
        #expect(guesses.wait(of: "2001:db8:0:1::ffff", at: now) == nil)
        #expect(guesses.wait(of: "192.0.2.1", at: now) == nil)
        #expect(guesses.take("192.0.2.1", in: "192.0.2.1", at: now) == nil)
    }
}
