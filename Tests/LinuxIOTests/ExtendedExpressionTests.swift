import LinuxIO
import Testing

struct ExtendedExpressionTests {
    @Test(arguments: [
        (#"state=(\w+)"#, "t=5 state=idle x", "idle"), ("^(a|b)c$", "bc", "b"), ("^(a|b)c$", "dc", nil),
        ("(x)?y", "y", nil), ("(.)$", "30 é", "é"), ("a(.*)", "a", ""), ("b(.)", "a\0b1", nil),
        ("(z)", String(repeating: "a", count: 5000) + "z", nil), ("(a)(b)", "ab", "a"),
    ])
    func firstGroup_isWhatTheLineHas(pattern: String, line: String, found: String?) throws {
        #expect(try ExtendedExpression(pattern).firstGroup(in: line) == found)
    }

    @Test(arguments: ["", "a", "(a", "[a", "a{2,1}(b)"])
    func wrongExpression_saysWhy(pattern: String) {
        let problem = #expect(throws: ExtendedExpression.Problem.self) { try ExtendedExpression(pattern) }
        #expect(problem?.message.isEmpty == false)
    }
}
