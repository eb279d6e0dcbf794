import Domain
import Gateway
import Testing

struct LinkChoiceTests {
    private static let adapter = MACAddress(bits: 0x00AA_0100_0001)
    private static let otherAdapter = MACAddress(bits: 0x00AA_0100_0002)
    private static let meter = MACAddress(bits: 0x0200_0000_250C)
    private let cable = LinkAddress.serial(path: "/dev/ttyACM0")
    private let ble = LinkAddress.ble(RadioLink(address: meter, isRandom: false, adapter: adapter))
    private let spp = LinkAddress.spp(RadioLink(address: meter, isRandom: false, adapter: adapter))
    private let farBLE = LinkAddress.ble(RadioLink(address: meter, isRandom: false, adapter: otherAdapter))

    private func choice(_ links: LinkAddress...) -> LinkChoice {
        var choice = LinkChoice()
        for link in links { choice.appeared(link, rssi: nil) }
        return choice
    }

    @Test func cable_comesBeforeLE_andLEBeforeClassic_whateverCameFirst() {
        #expect(choice(spp, ble, cable).inOrder == [cable, ble, spp])
        #expect(choice(cable, ble, spp).inOrder == [cable, ble, spp])
    }

    @Test func askedForKind_comesFirst_whileThereIsOne() {
        var choice = choice(cable, ble, spp)
        choice.preferred = .spp
        #expect(choice.next == spp)

        let wasThere = choice.vanished(spp)
        #expect(wasThere)
        #expect(choice.next == cable)
    }

    @Test func failedLink_makesRoomForTheNext_roundAndRound() {
        var choice = choice(ble, spp)
        var tried: [LinkAddress] = []
        for _ in 0..<4 {
            guard let next = choice.next else { break }
            tried.append(next)
            choice.failed(next)
        }
        #expect(tried == [ble, spp, ble, spp])
    }

    @Test func linkThatBroughtData_isTriedAgainFirst() {
        var choice = choice(ble, spp)
        choice.failed(ble)
        choice.broughtData(spp)
        #expect(choice.next == spp)

        choice.beginAnew()
        #expect(choice.next == ble)
    }

    @Test func adapterThatHearsItLouder_isTaken() {
        var choice = LinkChoice()
        choice.appeared(farBLE, rssi: -88)
        choice.appeared(ble, rssi: -52)
        #expect(choice.next == ble)

        choice.heard(farBLE, rssi: -40)
        #expect(choice.next == farBLE)
        #expect(choice.rssi(of: farBLE) == -40)
    }

    @Test func portThatAppearedLast_isTaken_ofTwoAlike() {
        let next = LinkAddress.serial(path: "/dev/ttyACM1")
        #expect(choice(cable, next).next == next)
    }

    @Test func whatWasNeverThere_vanishesWithoutATrace() {
        var choice = choice(ble)
        let others = choice.vanished(spp)
        #expect(!others)
        #expect(choice.inOrder == [ble])
        let its = choice.vanished(ble)
        #expect(its)
        #expect(choice.isEmpty)
        #expect(choice.next == nil)
    }
}
