import Domain
import Gateway
import Testing

/// What a host knows about the others' leases.
struct LeaseBoardTests {
    private let own = HostID(high: 0, low: 1)

    @Test func remaining_isCountedDownOnOurOwnClock_fromReceipt() {
        var board = LeaseBoard(host: own)
        board.list([lease(remaining: .seconds(100))], at: .second(1000))

        #expect(board.lease(of: .um, at: .second(1030))?.remaining == .seconds(70))
        let expired = board.lease(of: .um, at: .second(1100))
        #expect(expired?.state == .expired && expired?.remaining == .zero)
    }

    @Test func list_isAskedForAgain_whenAForeignLeaseSeemsToRunOut() {
        var board = LeaseBoard(host: own)
        #expect(board.listAt == .origin)
        board.list([lease(remaining: .seconds(100))], at: .second(1000))
        #expect(board.listAt == .second(1040))
        board.list([lease(remaining: .seconds(50))], at: .second(1050))
        #expect(board.listAt == .second(1060))
        board.list([lease(remaining: .zero)], at: .second(1060))
        #expect(board.listAt == .second(1120))
        board.listFailed(at: .second(1200))
        #expect(board.listAt == .second(1260))
    }

    @Test func list_isNotAskedFor_becauseOfOurOwnLeases_orOfNone() {
        var board = LeaseBoard(host: own)
        board.list([lease(holder: own, remaining: .seconds(100))], at: .second(1000))
        #expect(board.listAt == nil)
        board.list([], at: .second(1000))
        #expect(board.listAt == nil)
    }

    @Test func leaseThatNobodyHas_isWatchedByNobody() {
        var board = LeaseBoard(host: own)
        #expect(!board.isKnown)
        var freed = lease(holder: nil, remaining: .zero)
        freed.state = .free
        freed.waiting = ["pi3"]
        board.list([freed], at: .second(1000))
        #expect(board.isKnown)
        #expect(board.listAt == nil)
    }

    /// Whatever is left of it, one that is being given back is not over before its holder says so.
    @Test func onlyAHeldLease_expires() {
        var board = LeaseBoard(host: own)
        var revoking = lease(remaining: .seconds(10))
        revoking.state = .revoking
        board.update(revoking, at: .second(1))
        #expect(board.lease(of: .um, at: .second(20))?.state == .revoking)
        board.update(lease(token: 2, remaining: .seconds(10)), at: .second(1))
        #expect(board.lease(of: .um, at: .second(11) + .milliseconds(-1))?.state == .held)
        #expect(board.lease(of: .um, at: .second(11))?.state == .expired)
    }

    @Test func olderNews_isNoNews() {
        var board = LeaseBoard(host: own)
        board.update(lease(token: 5), at: .second(1))
        board.update(lease(token: 4, holder: own), at: .second(2))
        #expect(board.lease(of: .um, at: .second(3))?.token.rawValue == 5)
    }

    /// A list is read while things go on, and may be overtaken by the events of what it has not seen: a grant, a change
    /// of one grant, an end.
    @Test func whatWasToldSinceTheListWasAskedFor_isNewerThanTheList() {
        var board = LeaseBoard(host: own)
        let held = lease(token: 5)
        var (revoking, freed) = (held, lease(token: 5, holder: nil))
        revoking.state = .revoking
        freed.state = .free

        board.listAsked()
        board.update(held, at: .second(1))
        board.list([lease(token: 3)], at: .second(2))
        #expect(board.leases(at: .second(1)) == [held])
        board.listAsked()
        board.update(held, at: .second(2))
        board.list([], at: .second(2))
        #expect(board.leases(at: .second(2)) == [held])
        board.listAsked()
        board.update(revoking, at: .second(3))
        board.list([held], at: .second(3))
        #expect(board.leases(at: .second(3)) == [revoking])
        board.listAsked()
        board.update(freed, at: .second(4))
        board.list([held], at: .second(4))
        #expect(board.leases(at: .second(4)).isEmpty)
    }

    /// Also one of a cloud whose store went back, where tokens are smaller than known.
    @Test func list_isBelieved_overWhatWasToldBeforeItWasAskedFor() {
        var board = LeaseBoard(host: own)
        board.update(lease(token: 5), at: .second(1))
        board.listAsked()
        board.list([lease(token: 4)], at: .second(1))
        #expect(board.lease(of: .um, at: .second(1))?.token.rawValue == 4)
        board.listAsked()
        board.list([], at: .second(2))
        #expect(board.leases(at: .second(2)).isEmpty)
    }

    @Test func freeLease_isNotListed_unlessSomebodyWaits() {
        var board = LeaseBoard(host: own)
        board.update(lease(token: 5), at: .second(1))
        var freed = lease(token: 5, holder: nil)
        freed.state = .free
        freed.waiting = ["pi3"]
        board.update(freed, at: .second(2))
        #expect(board.leases(at: .second(2)).map(\.waiting) == [["pi3"]])

        freed.waiting = []
        board.update(freed, at: .second(3))

        #expect(board.leases(at: .second(3)).isEmpty)
    }

    @Test func released_isGone_butNotWhatCameAfterIt() {
        var board = LeaseBoard(host: own)
        board.update(lease(token: 5), at: .second(1))

        board.released(HeldLease(meter: .um, token: FencingToken(rawValue: 4)))
        #expect(board.leases(at: .second(1)).count == 1)
        board.released(HeldLease(meter: .um, token: FencingToken(rawValue: 5)))
        #expect(board.leases(at: .second(1)).isEmpty)
    }

    /// News of the own lease that were on their way, as an event or in a list; not those of another host's, whose token
    /// may be smaller where a store went back.
    @Test(arguments: [true, false])
    func released_isNotRevivedByNewsOfIt(inAList: Bool) {
        var board = LeaseBoard(host: own)
        func tell(_ lease: LeaseView) {
            guard inAList else { return board.update(lease, at: .second(1)) }
            board.listAsked()
            board.list([lease], at: .second(1))
        }
        tell(lease(token: 5, holder: own))
        board.released(HeldLease(meter: .um, token: FencingToken(rawValue: 5)))
        board.released(HeldLease(meter: .um, token: FencingToken(rawValue: 4)))

        for token: UInt64 in 4...5 {
            tell(lease(token: token, holder: own))
            #expect(board.leases(at: .second(1)).isEmpty)
        }
        for told in [lease(token: 4), lease(token: 6, holder: own)] {
            tell(told)
            #expect(board.leases(at: .second(1)) == [told])
        }
    }

    private func lease(
        token: UInt64 = 1, holder: HostID? = HostID(high: 0, low: 2), remaining: Duration = .seconds(120)
    ) -> LeaseView {
        LeaseView(
            meter: .um, state: .held, holder: holder, holderName: "pi", token: FencingToken(rawValue: token),
            terms: .standard, transport: .usb, acquiredAt: nil, remaining: remaining)
    }
}

extension MonotonicTime {
    fileprivate static func second(_ second: Int) -> MonotonicTime { MonotonicTime(sinceOrigin: .seconds(second)) }
}
