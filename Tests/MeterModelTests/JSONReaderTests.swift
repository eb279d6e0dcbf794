import CoreTestKit
import Domain
import Foundation
import Testing

struct JSONReaderTests {
    typealias Reason = JSONReader.Problem.Reason

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Why a text is not JSON; nil if it is.
    private func problem(_ bytes: [UInt8]) -> JSONReader.Problem? {
        do throws(JSONReader.Problem) {
            _ = try bytes.read { $0.passValue() ? true : nil }
            return nil
        } catch { return error }
    }

    // MARK: Texts

    /// RFC 8259: every escape, pairs of halves, and what is none.
    @Test(
        arguments: [
            (#"plain"#, "plain"), (#""#, ""), (#"\" \\ \/"#, "\" \\ /"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"),
            (#"\u0041\u00e9b"#, "Aéb"), (#"\ud83d\ude00!"#, "😀!"), (#"\uD800\uDC00"#, "\u{10000}"),
            (#"\uDBFF\uDFFF"#, "\u{10FFFF}"), (#"\uFFFF"#, "\u{FFFF}"), (#"a{}[],:"#, "a{}[],:"), (#"é😀"#, "é😀"),
            (#"é\u00e9é"#, "ééé"), ("\u{7F} ", "\u{7F} "), (#"\udc00"#, nil), (#"\x"#, nil), (#"\u00"#, nil),
            (#"\u00zz"#, nil), (#"\ud83d"#, nil), (#"\ud83dx"#, nil), (#"\ud83dxu0041"#, nil), (#"\ud83d\n0041"#, nil),
            (#"\ud83d\ud83d"#, nil), (#"\ud83d\udbff"#, nil), (#"\ud83d\u0041"#, nil), (#"\ud83d\ue000"#, nil),
            (#"\u+041"#, nil), ("\\u004\u{FF11}", nil), ("a\u{1F}", nil), ("a\nb", nil), ("\u{0}", nil), (#"a\"#, nil),
        ] as [(String, String?)])
    func text_isUnescaped(json: String, text: String?) {
        #expect((try? bytes("\"\(json)\"").read { $0.string() }) == text)
        #expect((problem(bytes("\"\(json)\"")) == nil) == (text != nil), "passed over as it is read")
        let isPlain = text != nil && !json.contains("\\")
        let plain = try? bytes("\"\(json)\"").read { $0.plainString().map { String(decoding: $0, as: UTF8.self) } }
        #expect(plain == (isPlain ? text : nil))
    }

    @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x41, 0xA9], [0xF4, 0x90, 0x80, 0x80]])
    func textThatIsNotUTF8_isRefused(letters: [UInt8]) {
        for text in [letters, letters + bytes(#"\n"#), bytes(#"\n"#) + letters] {
            let json = bytes("\"") + text + bytes("\"")
            #expect((try? json.read { $0.string() }) == nil)
            #expect(problem(json)?.reason == .notUTF8)
        }
    }

    // MARK: Numbers

    @Test(
        arguments: [
            ("0", 0, 0), ("-1", -1, -1), ("9223372036854775807", .max, 0x1p63),
            ("-9223372036854775808", .min, -0x1p63), ("9223372036854775808", nil, 0x1p63),
            ("-0", nil, -0.0), ("1.0", nil, 1), ("1e3", nil, 1000), ("-1.5E-2", nil, -0.015), ("1e+02", nil, 100),
            ("99999999999999999999", nil, 1e20), ("00", nil, nil), ("-01", nil, nil), ("+1", nil, nil), ("-", nil, nil),
            ("", nil, nil), (".5", nil, nil), ("1.", nil, nil), ("1e", nil, nil), ("1e+", nil, nil), ("1x", nil, nil),
            ("0x1", nil, nil), ("NaN", nil, nil), ("1e999", nil, nil), ("1 ", nil, nil),
        ] as [(String, Int64?, Double?)])
    func number_isRead_asItIsWritten(text: String, whole: Int64?, double: Double?) {
        #expect((try? bytes(text).read { $0.integer() }) == whole)
        #expect((try? bytes(text).read { $0.double() })?.bitPattern == double?.bitPattern)
        let decimal = whole.flatMap { UInt64(exactly: $0) }
        #expect((try? bytes(text).read { $0.decimal() }) == (text == "9223372036854775808" ? 1 << 63 : decimal))
    }

    @Test func everyDouble_comesBackWithTheSameBits() {
        var rng = SeededRNG(seed: 1)
        for _ in 0..<2000 {
            let value = Double(bitPattern: rng.next())
            guard value.isFinite else { continue }
            #expect((try? bytes("\(value)").read { $0.double() })?.bitPattern == value.bitPattern, "\(value)")
        }
    }

    // MARK: Values in values

    @Test(
        arguments: [
            ("{}", nil), ("{ \t\r\n} \t\r\n", nil), ("[ ]", nil), ("{\n\"a\"\t:\r-1\n,\t\"b\" : null\r}", nil),
            (#"[1,"x",true,false,null,[[]],{"a":{"b":[]}}]"#, nil), (#"{"a":1,"a":2}"#, nil),
            ("", (.unwanted, 0)), ("{", (.missing, 1)), (#"{"a"}"#, (.missing, 4)),
            (#"{"a":}"#, (.unwanted, 5)), (#"{"a":1,}"#, (.missing, 7)), (#"{"a":1 "b":2}"#, (.missing, 7)),
            (#"{,"a":1}"#, (.missing, 1)), ("{a:1}", (.missing, 1)), (#"{"a":1]"#, (.missing, 6)),
            (#"{"a":1}}"#, (.trailing, 7)), (#"{"a":1} x"#, (.trailing, 8)), ("[1,]", (.unwanted, 3)),
            ("[,1]", (.unwanted, 1)), ("[1 2]", (.missing, 3)), ("[1}", (.missing, 2)), ("truth", (.unwanted, 0)),
            ("nul", (.unwanted, 0)), ("[1.]", (.notANumber, 3)), (#"{"a":"b"#, (.unended, 7)),
            ("\"a\u{1}\"", (.controlCharacter, 2)), (#"["\x"]"#, (.unknownEscape, 4)), ("{\u{A0}}", (.missing, 1)),
            (#"["\ud83d"]"#, (.halfACharacter, 8)), ("1 ", (.trailing, 1)),
        ] as [(String, (Reason, Int)?)])
    func whatIsNotJSON_isRefused_withThePlace(text: String, expected: (Reason, Int)?) {
        let problem = problem(bytes(text))
        #expect(problem?.reason == expected?.0)
        #expect(problem?.offset == expected?.1)
    }

    /// The stack has an end, however deep bytes are nested.
    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func nesting_hasAnEnd(open: String, close: String) {
        func nested(_ depth: Int) -> [UInt8] {
            bytes(String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth))
        }
        #expect(problem(nested(64)) == nil)
        for depth in [65, 1000, 100_000] { #expect(problem(nested(depth))?.reason == .tooDeep) }
        #expect(
            problem(bytes("[") + nested(63) + bytes(",") + nested(63) + bytes("]")) == nil, "siblings do not add up")
    }

    /// A loop over keys ends at the first fault, and what was read by then is not taken for the whole.
    @Test func nothingComesAfterAFault() {
        var keys: [String] = []
        let members = try? bytes(#"{"a":1,"b":x,"c":3}"#).read { json -> [Int64?]? in
            var values: [Int64?] = []
            guard json.open("{") else { return nil }
            while let key = json.key() {
                keys.append(key)
                values.append(json.integer())
            }
            return values
        }
        #expect(members == nil)
        #expect(keys == ["a", "b"])
    }

    /// Of changed and of random texts, exactly those are taken that the system's reader takes.
    @Test(arguments: 0..<20)
    func anyBytes_areTaken_asTheSystemsReaderTakesThem(seed: Int) {
        var rng = SeededRNG(seed: UInt64(seed))
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\"", "\\u00e9", "\\ud83d", "\\ude00", "0", "-", "-1", ".5",
            "E", "+", "true", "false", "null", " ", "\n", "é", "😀", "\u{1}", #""a":1"#, #"{"b":[]}"#,
        ].map { bytes($0) }
        let whole = bytes(#"{"a":[1,-2.5e-3,"é\n\u00e9\ud83d\ude00"],"b":{"c":null,"d":true} , "e":"x\\"}"#)
        for round in 0..<200 {
            var text = rng.chance(70) ? whole : []
            for _ in 0..<rng.below(text.isEmpty ? 12 : 4) {
                let place = rng.below(text.count + 1)
                switch rng.below(4) {
                case 0 where place < text.count: text.remove(at: place)
                case 1 where place < text.count: text[place] = UInt8(truncatingIfNeeded: rng.next())
                default: text.insert(contentsOf: rng.pick(pieces), at: place)
                }
            }
            // That one also takes a comma behind the last member.
            let bare = String(decoding: text.filter { !$0.isBlank }, as: UTF8.self)
            if bare.contains(",}") { continue }
            let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            let shown = "seed \(seed) round \(round): \(String(decoding: text, as: UTF8.self).debugDescription)"
            #expect((problem(text.trimmed) == nil) == (theirs != nil), "\(shown)")
        }
    }

    @Test func bytesThatLieInPieces_areReadToo() throws {
        let lazy = bytes("[1]").lazy.map { $0 }
        #expect(try lazy.read { $0.passValue() ? true : nil })
    }
}

extension [UInt8] {
    /// A bare value has no white space around it here, which the system's reader allows.
    fileprivate var trimmed: [UInt8] { Array(trimmingBlanks()) }
}
