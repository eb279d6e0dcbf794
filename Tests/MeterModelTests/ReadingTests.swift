import Domain
import Testing

struct ReadingTests {
    @Test func newReading_hasNothing() {
        let reading = Reading()

        #expect(reading.supported == [])
        #expect(Quantity.allCases.allSatisfy { reading[$0] == nil })
        #expect(reading.description.isEmpty)
    }

    @Test func nil_isUnknown_whichIsNotAbsent() {
        var reading = Reading()
        reading[.current] = nil

        #expect(reading.supported == QuantitySet(.current))
        #expect(reading.known == [])
        #expect(reading != Reading())
        #expect(reading.description == "current_A=null")
    }

    @Test func zero_isAValue_whichIsNotUnknown() {
        var zero = Reading()
        zero[.current] = 0
        var unknown = Reading()
        unknown[.current] = nil

        #expect(zero[.current] == 0)
        #expect(zero != unknown)
        #expect(zero.description == "current_A=0.0")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, .signalingNaN])
    func whatIsNoNumber_isUnknown(_ value: Double) {
        var reading = Reading()
        reading[.voltage] = 5
        reading[.voltage] = value

        #expect(reading[.voltage] == nil)
        #expect(reading.supported.contains(.voltage))
    }

    @Test func forgettingAValue_leavesNoTrace_inEquality() {
        var once = Reading()
        once[.voltage] = 5
        once[.voltage] = nil
        var never = Reading()
        never[.voltage] = nil

        #expect(once == never)
        #expect(once.hashValue == never.hashValue)
    }

    @Test func forEach_goesBySupported_inOrder() {
        var reading = Reading()
        reading[.temperature] = 25
        reading[.voltage] = 5.1
        reading[.power] = nil
        var seen: [String] = []
        reading.forEach { seen.append("\($0.key) \($1.map { "\($0)" } ?? "null")") }

        #expect(seen == ["voltage_V 5.1", "power_W null", "temperature_C 25.0"])
    }

    /// Whatever differs between two readings, they are not the same: what is supported, what is known, and each value.
    @Test func differences_areSeen_whateverTheyAre() {
        var readings = [Reading()]
        for quantity in Quantity.allCases {
            for value in [nil, 0, 1] as [Double?] {
                var reading = Reading()
                reading[quantity] = value
                readings.append(reading)
            }
        }
        for (place, one) in readings.enumerated() {
            for (otherPlace, other) in readings.enumerated() {
                #expect((one == other) == (place == otherPlace))
            }
        }
        #expect(Set(readings).count == readings.count)
        let known = readings.filter { $0.known != [] }
        #expect(Set(known.map(\.hashValue)).count == known.count)
    }

    @Test func description_namesEachInOrder() {
        var reading = Reading()
        reading[.current] = 0.5
        reading[.voltage] = 5
        #expect(reading.description == "voltage_V=5.0 current_A=0.5")
    }

    @Test func sets_haveWhatWasPutIn_inOrder() {
        for quantity in Quantity.allCases {
            let alone = QuantitySet(quantity)
            for other in Quantity.allCases { #expect(alone.contains(other) == (other == quantity)) }
        }
        var seen: [Quantity] = []
        QuantitySet(.price, .voltage, .countedCharge).forEach { seen.append($0) }
        #expect(seen == [.voltage, .price, .countedCharge])
        #expect(QuantitySet().rawValue == 0)
    }

    /// Parts of the ids of Home Assistant's entities.
    @Test func words_areKeysWithoutTheirUnits() {
        let words = Quantity.allCases.sorted { $0.rawValue < $1.rawValue }.map(\.word)
        #expect(
            words == [
                "voltage", "current", "power", "energy", "charge", "temperature", "dp", "dn", "resistance", "cc1",
                "cc2",
                "frequency", "power_factor", "vdd", "price", "duration", "counted_energy", "counted_charge",
                "ratio",
            ])
    }

    /// A reading has a place for each, and a set of them a bit.
    @Test func everyQuantity_hasAPlaceOfItsOwn() {
        #expect(Quantity.allCases.allSatisfy { Int($0.rawValue) < QuantitySet.RawValue.bitWidth })
        var reading = Reading()
        for quantity in Quantity.allCases { reading[quantity] = 1000 + Double(quantity.rawValue) }
        #expect(Quantity.allCases.allSatisfy { reading[$0] == 1000 + Double($0.rawValue) })
        #expect(reading.known == reading.supported)
    }

    /// Stored chunks and programs that read the JSON depend on both.
    @Test func quantities_keepTheirPlaces_andTheirKeys() {
        let keys = Quantity.allCases.sorted { $0.rawValue < $1.rawValue }.map(\.key)

        #expect(Quantity.allCases.map(\.rawValue) == Array(0...18))
        #expect(
            keys == [
                "voltage_V", "current_A", "power_W", "energy_Wh", "charge_mAh", "temperature_C", "dp_V", "dn_V",
                "resistance_ohm", "cc1_V", "cc2_V", "frequency_Hz", "power_factor", "vdd_V", "price", "duration_s",
                "counted_energy_Wh", "counted_charge_mAh", "ratio",
            ])
    }

    /// Equal in all three, and in nothing less.
    @Test func spreads_areEqual_withCountAndBothEnds() {
        func reading(_ volts: Double) -> Reading {
            var reading = Reading()
            reading[.voltage] = volts
            return reading
        }
        func spread(_ count: Int, _ least: Double, _ greatest: Double) -> ReadingSpread {
            ReadingSpread(count: count, least: reading(least), greatest: reading(greatest))
        }
        let one = spread(3, 1, 5)
        #expect(one == spread(3, 1, 5))
        #expect(one.hashValue == spread(3, 1, 5).hashValue)
        for other in [spread(4, 1, 5), spread(3, 2, 5), spread(3, 1, 6)] { #expect(one != other) }
    }
}

struct HexTests {
    @Test func encode_isLowerCase_withTwoDigitsAByte() {
        #expect(Hex.encode([0x00, 0x0F, 0xF0, 0xAB]) == "000ff0ab")
        #expect(Hex.encode([]).isEmpty)
    }

    @Test(arguments: ["09c9ff", "09 C9 FF", "0x09 0xc9, 0xFF", "09:c9:ff", "09\r\nc9\tff\n", "09,c9,ff", " 09c9ff "])
    func decode_takesUsualForms(_ text: String) {
        #expect(Hex.decode(text) == [0x09, 0xC9, 0xFF])
    }

    @Test(arguments: ["0", "09c", "0 9", "xyz", "09g9", "x09", "09 0x", "é9"])
    func decode_refusesTheRest(_ text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test(
        arguments: [
            ("0x0", nil), ("0x", nil), ("1x09", nil), ("0x 09", nil), ("090x", nil), ("", []),
            (" ,:\t\r\n", []), ("0x09 0xAf", [0x09, 0xAF]), ("000x01", [0, 1]), ("0x00", [0]), ("0xx0", nil),
        ] as [(String, [UInt8]?)])
    func decode_takesAPrefixBeforeAByte(_ text: String, _ bytes: [UInt8]?) {
        #expect(Hex.decode(text) == bytes)
    }

    @Test func digitsAndBlanks_areTheseAndNoOthers() {
        for byte in UInt8.min...UInt8.max {
            let scalar = UnicodeScalar(byte)
            #expect(
                byte.hexDigitValue.map(Int.init) == (byte < 0x80 ? Character(scalar).hexDigitValue : nil), "\(byte)")
            #expect(byte.isBlank == [0x20, 0x09, 0x0D, 0x0A].contains(byte), "\(byte)")
        }
    }

    @Test func everyByte_survivesTheRoundTrip() {
        let bytes = Array(UInt8.min...UInt8.max)

        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
    }

    @Test func trimmingBlanks_keepsTheMiddle() {
        #expect(Array(Array(" \t a b\r\n".utf8).trimmingBlanks()) == Array("a b".utf8))
        #expect(Array(" \n".utf8).trimmingBlanks().isEmpty)
    }
}
