import Domain
import Testing

struct TariffTests {
    @Test(arguments: [
        ("0.32 EUR", 0.32, "EUR", "0.32 EUR"), ("0,32€", 0.32, "€", "0.32 €"), ("  30 ct ", 30, "ct", "30 ct"),
        ("0 USD", 0, "USD", "0 USD"), ("1000000 IDR", 1_000_000, "IDR", "1000000 IDR"),
        ("0.000001 BTC", 0.000_001, "BTC", "0.000001 BTC"), ("12.500 Kč", 12.5, "Kč", "12.5 Kč"),
    ])
    func text_isReadAsPeopleTypeIt(text: String, price: Double, currency: String, shown: String) throws {
        let tariff = try #require(Tariff(text))

        #expect(tariff.perKWh == price && tariff.currency == currency)
        #expect("\(tariff)" == shown)
        #expect(Tariff(shown) == tariff)
    }

    @Test(arguments: [
        "", "0.32", "EUR", "EUR 0.32", "-0.32 EUR", "0.32 E U R", "0.3.2 EUR", ".3 EUR", "3. EUR", "1,000.5 EUR",
        "1000001 EUR", "0.0000001 EUR", "1e3 EUR", "nan EUR", "0.32 EUR/kWh", "0.32 \u{7}", "٣ EUR", "0.32 ABCDEFGHI",
        "00000000000000001 EUR",
    ])
    func text_thatIsNoTariff_isRefused(text: String) { #expect(Tariff(text) == nil) }

    @Test(
        arguments: [
            ("1.5   EUR  ", "1.5 EUR"), ("0000000000000001 EUR", "1 EUR"), ("0.100000 EUR", "0.1 EUR"),
            ("0.000010EUR", "0.00001 EUR"), ("999999.999999 ABCDEFGH", "999999.999999 ABCDEFGH"), ("1 €$", "1 €$"),
            ("1000000.000000 E", "1000000 E"), ("1000000.000001 E", nil), ("1 EUR2", nil), ("1  ", nil),
            ("1.1234567 EUR", nil),
            ("\t1 EUR", nil), ("1 ABCDEFGHI", nil), ("1,5 EUR", "1.5 EUR"), ("1,5.5 EUR", nil), ("1. EUR", nil),
        ] as [(String, String?)])
    func text_isExact(text: String, shown: String?) { #expect(Tariff(text)?.description == shown) }

    @Test func cost_isOfAKilowattHour_andKeepsTheSign() throws {
        let tariff = try #require(Tariff("0.25 EUR"))

        #expect(tariff.cost(of: 2000) == 0.5)
        #expect(tariff.cost(of: -10) == -0.0025)
    }
}
