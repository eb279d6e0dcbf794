import Domain
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

    /// Files are judged by what live decoding accepts, so every model says that.
    @Test func everyModel_hasARange_ofVoltageAndCurrent() {
        let catalogue = MeterCatalogue.standard
        for model in catalogue.models {
            let ranges = catalogue.ranges(of: [model])
            for quantity in [Quantity.voltage, .current, .power] {
                #expect(ranges[quantity].map { $0.contains(0) && $0.upperBound > 0 } == true, "\(model) \(quantity)")
            }
        }
        #expect(catalogue.ranges(of: [.um25c])[.voltage] == 0...30)
        #expect(catalogue.ranges(of: [.um25c])[.power] == -187.5...187.5)
        #expect(catalogue.ranges(of: [.um25c, .fnb58])[.voltage] == 0...150)
        #expect(catalogue.ranges(of: [.um25c, .km003c])[.dataPlus] == nil, "what one does not limit, both do not")
        #expect(catalogue.ranges(of: []).isEmpty)
        #expect(catalogue.models(vendor: 0x2E3C, product: 0x5558).contains(.fnb58))
    }
}
