import MeterModel
import Testing

struct NearestTextTests {
    private static let words = ["name", "notes", "poll-interval", "stale-after", "brightness", "KM003C"]

    @Test(arguments: [
        ("nam", "name"), ("nmae", "name"), ("Name", "name"), ("note", "notes"), ("pol", "poll-interval"),
        ("poll-intervall", "poll-interval"), ("birghtness", "brightness"), ("km03c", "KM003C"), ("b", "brightness"),
    ])
    func typingError_hasItsWord(_ text: String, _ word: String) {
        #expect(Self.words.nearest(to: text) == word)
    }

    @Test(arguments: ["", "colour", "xx", "interval", "mena"])
    func otherText_hasNone(_ text: String) {
        #expect(Self.words.nearest(to: text) == nil)
        #expect([String]().nearest(to: text) == nil)
    }

    @Test func suggestion_comesBeforeTheRest() {
        #expect(
            Self.words.suggestion(for: "nam", "the settings are many") == "did you mean name? The settings are many")
        #expect(Self.words.suggestion(for: "nam", "meterctl scan") == "did you mean name? meterctl scan")
        #expect(Self.words.suggestion(for: "colour", "the settings are many") == "the settings are many")
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("abc", "cab", 2), ("nmae", "name", 1),
    ])
    func editDistance_countsChanges(_ one: String, _ other: String, _ distance: Int) {
        #expect(one.editDistance(to: other) == distance)
        #expect(other.editDistance(to: one) == distance)
    }
}
