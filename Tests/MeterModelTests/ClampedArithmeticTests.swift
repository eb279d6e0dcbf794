import Domain
import Testing

struct ClampedArithmeticTests {
    @Test func sumsAndDifferences_stayAtTheEnds() {
        #expect(Int8(100).addingClamped(27) == 127)
        #expect(Int8(100).addingClamped(28) == 127)
        #expect(Int8(-100).addingClamped(-28) == -128)
        #expect(Int8(-100).addingClamped(-29) == -128)
        #expect(Int8(-100).subtractingClamped(28) == -128)
        #expect(Int8(-100).subtractingClamped(29) == -128)
        #expect(Int8(100).subtractingClamped(-27) == 127)
        #expect(Int8(100).subtractingClamped(-28) == 127)
        #expect(UInt8(1).subtractingClamped(2) == 0)
        #expect(UInt8(255).addingClamped(1) == 255)
        #expect(Int8(5).addingClamped(-7) == -2 && Int8(5).subtractingClamped(7) == -2)
    }
}
