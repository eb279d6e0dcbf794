import Domain
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

    /// The first of those that are equally near.
    @Test func firstOfEquals_isMeant() {
        #expect(["ab", "ac", "ad"].nearest(to: "ax") == "ab")
        #expect(["acx", "abx"].nearest(to: "a") == "acx")
    }

    /// A third of what was typed may differ, one letter of a short word too, and no more.
    @Test(arguments: [
        ("abx", true), ("axx", false), ("abcdxx", true), ("abcxxx", false), ("abcdefxxx", true), ("abcdexxxx", false),
    ])
    func third_mayDiffer(typed: String, isNear: Bool) {
        let word = String("abcdefghi".prefix(typed.count))
        #expect((["zzzzzzzzzzzz", word].nearest(to: typed) == word) == isNear)
    }

    /// Against the definition, written down as such: every pair of short texts of three letters.
    @Test func editDistance_isAsDefined() {
        let letters: [Character] = ["a", "b", "c"]
        var texts = [[Character]()]
        for length in 1...3 {
            texts += texts.filter { $0.count == length - 1 }.flatMap { start in letters.map { start + [$0] } }
        }
        for one in texts {
            for other in texts {
                #expect(String(one).editDistance(to: String(other)) == defined(one[...], other[...]), "\(one) \(other)")
            }
        }
        #expect("abcdab".editDistance(to: "badcba") == defined(Array("abcdab")[...], Array("badcba")[...]))
    }

    private func defined(_ one: ArraySlice<Character>, _ other: ArraySlice<Character>) -> Int {
        guard let last = one.last, let otherLast = other.last else { return one.count + other.count }
        var least = min(
            defined(one.dropLast(), other) + 1, defined(one, other.dropLast()) + 1,
            defined(one.dropLast(), other.dropLast()) + (last == otherLast ? 0 : 1))
        if one.count > 1, other.count > 1, last == other.dropLast().last, one.dropLast().last == otherLast {
            least = min(least, defined(one.dropLast(2), other.dropLast(2)) + 1)
        }
        return least
    }
}
