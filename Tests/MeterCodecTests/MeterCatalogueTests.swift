import MeterCodec
import Testing

struct MeterCatalogueTests {
    @Test func everyNameThatIsShown_hasADecoder_inAnyCase() {
        for name in MeterCatalogue.standard.decoderNames {
            #expect(MeterCatalogue.standard.decoder(named: name) != nil, "\(name)")
            #expect(MeterCatalogue.standard.decoder(named: name.uppercased(), enforcingChecks: false) != nil, "\(name)")
        }
        #expect(Set(["tc66c", "km002c"]).isSubset(of: MeterCatalogue.standard.decoderNames))
        #expect(MeterCatalogue.standard.decoder(named: "um99") == nil)
    }
}
