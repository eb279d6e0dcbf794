import Domain
import MeterCodec
import Testing

struct LineDescriptionTests {
    private static let volts: DescriptionValue = .table(["V": .text("voltage")])

    private func failure(_ values: [String: DescriptionValue]) -> DescriptionError? {
        do throws(DescriptionError) {
            _ = try LineDescription(values)
            return nil
        } catch {
            return error
        }
    }

    @Test func defaults_areThoseOfTheReference() throws {
        let pairs = try LineDescription(["fields": Self.volts])
        #expect(pairs.format == .pairs)
        #expect(pairs.separator == UInt8(ascii: ";"))
        #expect(pairs.assignment == UInt8(ascii: "="))
        #expect(pairs.comment == [UInt8(ascii: "#")])
        #expect(pairs.check == nil)
        #expect(pairs.baudRate == 115_200)
        #expect(pairs.request.isEmpty)
        #expect(pairs.interval == .seconds(1))
        #expect(pairs.settle == .seconds(2))
        #expect(pairs.fields == [LineField(.voltage, name: [UInt8(ascii: "V")])])
        let columns = try LineDescription(["format": .text("columns"), "fields": .list([.text("voltage")])])
        #expect(columns.separator == UInt8(ascii: ","))
    }

    @Test func everyKey_isRead() throws {
        let description = try LineDescription([
            "format": .text("columns"),
            "fields": .list([
                .text(""), .table(["quantity": .text("current"), "factor": .number(0.001), "offset": .integer(-2)]),
                .table(["quantity": .text("dp"), "range": .list([.integer(0), .number(3.6)]), "unit": .text("V")]),
                .table(["quantity": .text("power_factor"), "optional": .flag(true)]), .text(""),
            ]),
            "separator": .text("\t"), "comment": .text("//"), "checksum": .text("crc16"), "baud-rate": .integer(9600),
            "request": .text("R\n"), "interval": .text("250ms"), "settle": .text("0s"),
        ])
        #expect(description.columns == 5)
        #expect(description.fields.map(\.column) == [1, 2, 3])
        #expect(description.fields.map(\.quantity) == [.current, .dataPlus, .powerFactor])
        #expect(description.fields[0].factor == 0.001)
        #expect(description.fields[0].offset == -2)
        #expect(description.fields[1].range == 0...3.6)
        #expect(description.fields[1].unit == [UInt8(ascii: "V")])
        #expect(description.fields.map(\.isOptional) == [false, false, true])
        #expect(description.separator == 9)
        #expect(description.comment == [0x2F, 0x2F])
        #expect(description.check == .crc16)
        #expect(description.baudRate == 9600)
        #expect(description.request == [0x52, 0x0A])
        #expect(description.interval == .milliseconds(250))
        #expect(description.settle == .zero)
        #expect(try LineDescription(["fields": Self.volts, "checksum": .text("xor")]).check == .xor)
        #expect(try LineDescription(["fields": Self.volts, "checksum": .text("none")]).check == nil)
        #expect(try LineDescription(["fields": Self.volts, "comment": .text("")]).comment.isEmpty)
    }

    /// Each limit is legal, and what lies beyond is not.
    @Test func limits_areLegal() {
        let legal: [(String, [DescriptionValue], [DescriptionValue])] = [
            ("interval", [.text("10ms"), .text("1h")], [.text("9ms"), .text("3601s"), .integer(1), .text("soon")]),
            ("settle", [.text("0s"), .text("1m")], [.text("61s"), .flag(true)]),
            (
                "baud-rate", [.integer(1200), .integer(2_000_000)],
                [.integer(1199), .integer(2_000_001), .integer(115_201), .text("9600")]
            ),
            ("comment", [.text(""), .text("1234567890123456")], [.text("12345678901234567"), .integer(1)]),
            (
                "request", [.text("R"), .text(String(repeating: "x", count: 64))],
                [.text(""), .text(String(repeating: "x", count: 65))]
            ),
            (
                "separator", [.text(","), .text(" "), .text("~"), .text("\t")],
                ["", ";;", "=", "a", "0", "z", "9", "Z", "-", "+", ".", "\"", "*", "§", "\n"].map(DescriptionValue.text)
            ),
            ("assignment", [.text(":")], [.text(";"), .text("ist"), .integer(1)]),
            ("checksum", [.text("xor"), .text("crc16"), .text("none")], [.text("crc"), .flag(false)]),
            ("format", [.text("pairs"), .text("json")], [.text("columns"), .text("csv"), .integer(0)]),
        ]
        for (key, good, bad) in legal {
            let base: [String: DescriptionValue] =
                key == "format" ? ["fields": Self.volts] : ["fields": Self.volts, "request": .text("?")]
            for value in good { #expect(failure(base.merging([key: value]) { $1 }) == nil, "\(key) \(value)") }
            for value in bad {
                let error = failure(base.merging([key: value]) { $1 })
                #expect(error != nil, "\(key) \(value)")
                #expect(error?.remedy.isEmpty == false)
            }
        }
    }

    @Test func errors_nameTheKey_theValue_andTheRemedy() {
        let all =
            "voltage, current, power, energy, charge, temperature, dp, dn, resistance, cc1, cc2, frequency, power_factor, vdd, price, duration"
        #expect(
            failure(["fields": .table(["V": .text("voltag")])])
                == DescriptionError("fields.V", "cannot be \"voltag\"", remedy: "did you mean voltage? It takes \(all)")
        )
        #expect(
            failure(["fields": .table(["V": .table(["quantity": .text("voltage"), "factor": .text("x")])])])
                == DescriptionError("fields.V.factor", "cannot be \"x\"", remedy: "it takes a number up to 1000000000"))
        #expect(
            failure(["fields": Self.volts, "baudrate": .integer(9600)])
                == DescriptionError(
                    "baudrate", "is not a key of a model",
                    remedy:
                        "did you mean baud-rate? The keys are format, fields, separator, assignment, comment, checksum, "
                        + "baud-rate, request, interval, settle"))
        #expect(
            failure(["fields": Self.volts, "baud-rate": .integer(115_201)])
                == DescriptionError(
                    "baud-rate", "cannot be 115201",
                    remedy:
                        "it takes 1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1000000, 2000000"
                ))
        #expect(failure([:])?.problem == "is missing")
        #expect(failure(["fields": .table([:])])?.problem == "describes 0 quantities")
        #expect(failure(["fields": .table(["V": .table([:])])])?.key == "fields.V.quantity")
        #expect(failure(["fields": .list([.text("voltage")])])?.problem == "cannot be a list")
        #expect(failure(["format": .text("columns"), "fields": Self.volts])?.problem == "cannot be a table")
        #expect(failure(["format": .text("columns"), "fields": .list([.text("V")])])?.key == "fields[0]")
        #expect(
            failure(["fields": .table(["V": .table(["quantity": .text("voltage"), "least": .integer(0)])])])?.key
                == "fields.V.least")
        #expect(failure(["fields": .table(["V": .text("counted_energy")])])?.key == "fields.V")
        #expect(failure(["fields": .table(["V": .other("1979-05-27")])])?.problem == "cannot be 1979-05-27")
    }

    @Test func whatMeansNothing_isRefused() {
        func field(_ members: [String: DescriptionValue]) -> [String: DescriptionValue] {
            ["fields": .table(["V": .table(members.merging(["quantity": .text("voltage")]) { $1 })])]
        }
        #expect(failure(field(["factor": .integer(0)]))?.key == "fields.V.factor")
        #expect(failure(field(["factor": .number(.nan)]))?.key == "fields.V.factor")
        #expect(failure(field(["offset": .number(.infinity)]))?.key == "fields.V.offset")
        #expect(failure(field(["range": .list([.integer(1), .integer(1)])]))?.key == "fields.V.range")
        #expect(failure(field(["range": .list([.integer(1)])]))?.key == "fields.V.range")
        #expect(failure(field(["range": .list([.integer(1), .text("2")])]))?.key == "fields.V.range")
        #expect(failure(field(["range": .list([.integer(0), .number(1e10)])]))?.key == "fields.V.range")
        #expect(failure(field(["unit": .text("")]))?.key == "fields.V.unit")
        #expect(failure(field(["optional": .integer(1)]))?.key == "fields.V.optional")
        #expect(
            failure(["fields": .table(["V": .text("voltage"), "U": .text("voltage")])])?.problem == "has voltage twice")
        #expect(failure(["fields": .table([" V": .text("voltage")])])?.problem == "has an illegal name")
        #expect(failure(["fields": .table(["": .text("voltage")])])?.problem == "has an illegal name")
        #expect(failure(["fields": .table(["a;b": .text("voltage")])])?.key == "fields.a;b")
        #expect(failure(["fields": .table(["a=b": .text("voltage")])])?.key == "fields.a=b")
        #expect(failure(["fields": .table(["a,b": .text("voltage")])]) == nil)
        #expect(failure(["fields": Self.volts, "settle": .text("1s")])?.problem == "is of no use without request")
        #expect(failure(["format": .text("json"), "fields": Self.volts, "separator": .text("|")])?.key == "separator")
        #expect(
            failure(["format": .text("json"), "fields": Self.volts, "assignment": .text(":")])?.key == "assignment")
        #expect(failure(["fields": Self.volts, "separator": .text("=")])?.key == "separator")
        #expect(failure(["fields": Self.volts, "separator": .text("="), "assignment": .text(":")]) == nil)
    }

    @Test func twelveFields_areTheMost() {
        let words = [
            "voltage", "current", "power", "energy", "charge", "temperature", "dp", "dn", "resistance", "cc1", "cc2",
            "frequency", "vdd",
        ]
        func fields(_ count: Int) -> [String: DescriptionValue] {
            ["fields": .table(Dictionary(uniqueKeysWithValues: words.prefix(count).map { ($0, .text($0)) }))]
        }
        #expect(failure(fields(12)) == nil)
        #expect(failure(fields(13))?.problem == "describes 13 quantities")
        func columns(_ count: Int) -> [String: DescriptionValue] {
            [
                "format": .text("columns"),
                "fields": .list([.text("voltage")] + [DescriptionValue](repeating: .text(""), count: count - 1)),
            ]
        }
        #expect(failure(columns(64)) == nil)
        #expect(failure(columns(65)) != nil)
    }

    // MARK: The catalogue

    @Test func describedModels_areKnown_besideTheOthers() throws {
        let catalogue = try MeterCatalogue.standard
            .adding(model: "ina226", described: ["fields": Self.volts, "baud-rate": .integer(9600)])
            .adding(model: "shelf-2", described: ["format": .text("columns"), "fields": .list([.text("voltage")])])
        let first = try #require(catalogue.model(named: "INA226"))
        let second = try #require(catalogue.model(named: "shelf-2"))

        #expect(catalogue.models.count == MeterCatalogue.standard.models.count + 2)
        #expect(first.displayName == "INA226")
        #expect(first.family == .generic)
        #expect(catalogue.transports(of: first) == [.serial])
        #expect(catalogue.driver(for: first)?.profile.baudRate == 9600)
        #expect(catalogue.driver(for: second)?.profile.baudRate == 115_200)
        #expect(catalogue.driver(for: first)?.profile.model == first)
        #expect(catalogue.decoder(named: "ina226") != nil)
        #expect(MeterCatalogue.standard.model(named: "ina226") == nil)
        #expect(GenericFamily().description(of: first) == nil)
    }

    @Test(arguments: ["", "Ina226", "ina 226", "ina_226", "ä", String(repeating: "a", count: 33)])
    func illegalName_isRefused(name: String) {
        #expect(throws: DescriptionError.self) {
            try MeterCatalogue.standard.adding(model: name, described: ["fields": Self.volts])
        }
    }

    @Test func knownName_isRefused() throws {
        let longest = String(repeating: "a", count: 32)
        let grown = try MeterCatalogue.standard.adding(model: longest, described: ["fields": Self.volts])
        for name in ["um25c", "generic", longest] {
            #expect(throws: DescriptionError.self) { try grown.adding(model: name, described: ["fields": Self.volts]) }
        }
        #expect(throws: DescriptionError.self) {
            try MeterCatalogue(families: [UMFamily()]).adding(model: "a", described: ["fields": Self.volts])
        }
        #expect(MeterCatalogue(families: [UMFamily()]).descriptionKeys.isEmpty)
    }

    @Test func catalogues_areEqual_ifTheyDescribeTheSame() throws {
        let one = try MeterCatalogue.standard.adding(model: "a", described: ["fields": Self.volts])
        let same = try MeterCatalogue.standard.adding(model: "a", described: ["fields": Self.volts])
        let other = try MeterCatalogue.standard.adding(
            model: "a", described: ["fields": Self.volts, "comment": .text("%")])
        #expect(one == same)
        #expect(one.hashValue == same.hashValue)
        #expect(one != other)
        #expect(one != .standard)
        #expect(MeterCatalogue(families: [UMFamily()]) != MeterCatalogue(families: [TC66Family()]))
    }

    /// The reference's examples make a description, together and each on its own.
    @Test func reference_hasEveryKey() {
        let names = MeterCatalogue.standard.descriptionKeys.map(\.name)
        #expect(names.count == Set(names).count)
        for name in names {
            let values = ["fields": Self.volts].merging([name: .other("1979-05-27")]) { $1 }
            #expect(failure(values)?.key == name)
        }
        #expect(
            failure(["fields": Self.volts, "x": .integer(1)])?.remedy.hasSuffix(names.joined(separator: ", ")) == true)
    }
}
