import Domain
import MeterCodec
import Testing

struct USBIdentityTests {
    /// A layout that names interfaces fits no device of which none are known; one that names none fits all.
    @Test func layout_fits_byWhatItHasAndLacks() {
        let known: Set<UInt8>? = [0x02, 0x0A]
        for (layout, isEmpty, fits) in [
            (USBIdentity.Layout(), true, true), (.init(has: [0x02]), false, true),
            (.init(has: [0x02, 0x0A]), false, true),
            (.init(has: [0x02, 0x08]), false, false), (.init(lacks: [0x08]), false, true),
            (.init(lacks: [0x02]), false, false), (.init(has: [0x02], lacks: [0x08]), false, true),
            (.init(has: [0x02], lacks: [0x0A]), false, false), (.init(has: [0x08], lacks: [0x03]), false, false),
        ] {
            #expect(layout.isEmpty == isEmpty, "\(layout)")
            #expect(layout.fits(known) == fits, "\(layout)")
            #expect(layout.fits(nil) == isEmpty, "\(layout)")
        }
    }

    /// A vendor id that tells the maker is that of its meters, and nobody else's.
    @Test func vendorOfAMaker_isThatOfItsMetersAlone() {
        let families = MeterCatalogue.standard.families
        for family in families {
            guard let maker = family.usbMaker else { continue }
            #expect(maker.vendors.isSubset(of: family.usbDevices.map(\.vendor)), "\(maker)")
            for other in families where other.usbMaker?.maker != maker.maker {
                #expect(maker.vendors.isDisjoint(with: other.usbDevices.map(\.vendor)), "\(maker)")
            }
        }
    }
}
