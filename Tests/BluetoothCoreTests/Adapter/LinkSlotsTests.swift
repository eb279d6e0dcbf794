import Domain
import Testing

@testable import BluetoothCore

struct LinkSlotsTests {
    private let timing = AdapterTiming()

    private func key(_ number: UInt64, isClassic: Bool = false) -> SlotKey {
        SlotKey(MACAddress(bits: number), isClassic: isClassic)
    }

    @Test func linkThatHasASlot_getsItAgain_whenAllAreTaken() {
        var slots = LinkSlots(linksMax: 1)
        #expect(slots.begin(key(1), at: .origin) == nil)
        #expect(slots.begin(key(1), at: .origin) == nil)
        #expect(slots.begin(key(2), at: .origin)?.isFull == true)
        #expect(slots.count == 1)
    }

    @Test func attemptThatNobodyEnds_keepsItsSlot_andIsNoAttempt() {
        var slots = LinkSlots(linksMax: 2)
        _ = slots.begin(key(1), at: .origin)
        #expect(slots.wakeTime(timing) == timing.attemptMax.moment)
        slots.expire(at: timing.attemptMax.moment, timing)
        #expect(!slots.hasAttempts)
        #expect(slots.count == 1)
        #expect(slots.wakeTime(timing) == nil)
    }

    @Test func adapterThatIsOff_hasNoLinksOfOthers_andKeepsOurSlots() {
        var slots = LinkSlots(linksMax: 2)
        slots.connect(RadioAddress(MACAddress(bits: 9), .lePublic))
        _ = slots.begin(key(1), at: .origin)
        #expect(slots.hasLinks)
        slots.switchedOff()
        #expect(!slots.hasLinks)
        #expect(!slots.hasAttempts)
        #expect(slots.contains(key(1)))
    }

    /// Whichever of the three a link is: under way, overdue or up.
    @Test func everyLinkWithASlot_isKnown_andDoesNotCountAgainstItself() {
        var slots = LinkSlots(linksMax: 3)
        for number in UInt64(1)...2 { _ = slots.begin(key(number), at: .origin) }
        slots.expire(at: timing.attemptMax.moment, timing)
        _ = slots.succeed(key(2))
        _ = slots.begin(key(3), at: timing.attemptMax.moment)
        for number in UInt64(1)...3 {
            #expect(slots.contains(key(number)))
            var again = slots
            #expect(again.succeed(key(number)) == true)
            #expect(again.begin(key(number), at: timing.attemptMax.moment) == nil)
            #expect(again.count == 3)
            again.giveBack(key(number))
            #expect(!again.contains(key(number)))
            #expect(again.begin(key(4), at: timing.attemptMax.moment) == nil)
        }
        #expect(slots.begin(key(4), at: timing.attemptMax.moment)?.isFull == true)
    }

    @Test func link_succeeds_onlyWithASlot() {
        var slots = LinkSlots(linksMax: 2)
        #expect(slots.succeed(key(1)) == false)
        _ = slots.begin(key(1, isClassic: true), at: Duration.seconds(3).moment)
        _ = slots.begin(key(2), at: Duration.seconds(4).moment)
        #expect(slots.lastClassicAttempt == Duration.seconds(3).moment)
        #expect(slots.succeed(key(1, isClassic: true)) == true)
        #expect(slots.hasOwnLinks)
        #expect(slots.lastClassicAttempt == nil)
    }
}
