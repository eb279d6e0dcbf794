import MeterCodec
import Testing

struct MeterCatalogueTests {
    @Test func everyNameThatIsShown_hasADecoder_inAnyCase() {
        for name in MeterCatalogue.decoderNames {
            #expect(MeterCatalogue.decoder(named: name) != nil, "\(name)")
            #expect(MeterCatalogue.decoder(named: name.uppercased(), enforcingChecks: false) != nil, "\(name)")
        }
        #expect(Set(["tc66c", "km002c"]).isSubset(of: MeterCatalogue.decoderNames))
        #expect(MeterCatalogue.decoder(named: "um99") == nil)
    }
}
