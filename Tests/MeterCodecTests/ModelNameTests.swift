import Domain
import MeterCodec
import Testing

struct ModelNameTests {
    private let catalogue = MeterCatalogue.standard

    @Test func anyCase_isOneModel() {
        #expect(catalogue.model(named: "UM25C") == .um25c)
        #expect(catalogue.model(named: "Atorch-USB") == .atorchUSB)
        #expect(catalogue.model(named: "um25") == nil)
    }

    /// `status` prints the name in capitals and `capture` writes it in lower case, which `replay` reads.
    @Test(arguments: [ModelName.um24c, .um25c, .um34c, .tc66, .tc66c, .fnb48, .fnb48s, .fnb58, .c1, .km002c, .km003c])
    func displayName_inLowerCase_isTheModelAgain(_ model: ModelName) {
        #expect(catalogue.model(named: model.displayName.lowercased()) == model)
    }
}
