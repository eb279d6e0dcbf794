import ProgramKit
import Testing

struct LivePictureTests {
    private func update(_ picture: inout LivePicture, _ lines: String..., rows: Int = 6) -> String {
        picture.update(to: lines, size: (rows, 40)) { "and \($0) more" }
            .replacing("\u{1B}[", with: "^")
    }

    @Test func pictureAtTheCursor_writesOnlyLinesThatChanged() {
        var picture = LivePicture(.atCursor)

        #expect(update(&picture, "a", "b", "c") == "a^K\nb^K\nc^K\n")
        #expect(update(&picture, "a", "x", "c") == "\r^3A\nx^K\n\n")
        #expect(update(&picture, "a", "x", "c") == "\r^3A\n\n\n")
    }

    @Test func pictureThatShrinks_leavesNothingBehind_andTheCursorBelowIt() {
        var picture = LivePicture(.atCursor)
        _ = update(&picture, "a", "b", "c")

        #expect(update(&picture, "a") == "\r^3A\n^K\n^K\n^2A")
        #expect(update(&picture, "a", "b") == "\r^1A\nb^K\n")
    }

    @Test func pictureThatDoesNotFit_saysHowMuchIsMissing() {
        var picture = LivePicture(.atCursor)

        #expect(update(&picture, "a", "b", "c", "d", rows: 4) == "a^K\nb^K\nand 2 more^K\n")
    }

    @Test func wholeScreen_isClearedOnce_andAfterAChangeOfItsSize() {
        var picture = LivePicture(.wholeScreen)

        #expect(update(&picture, "a", "b") == "^H^2J^1;1Ha^K^2;1Hb^K")
        #expect(update(&picture, "a", "c") == "^2;1Hc^K")
        #expect(update(&picture, "a", "c") == "")
        #expect(update(&picture, "a") == "^2;1H^K")
        #expect(update(&picture, "a", "b", rows: 3) == "^H^2J^1;1Ha^K^2;1Hb^K")
    }
}
