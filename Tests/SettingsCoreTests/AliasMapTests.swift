import Domain
import Testing

struct AliasMapTests {
    @Test(arguments: [
        ([:], [:]),
        (["b": "a"], ["b": "a"]),
        (["c": "b", "b": "a"], ["c": "a", "b": "a"]),
        (["a": "b", "b": "a"], ["b": "a"]),
        (["a": "a"], [:]),
        (["d": "c", "c": "b", "b": "c"], ["d": "b", "c": "b"]),
        (["e": "d", "d": "c", "c": "e", "x": "d", "y": "z"], ["e": "c", "d": "c", "x": "c", "y": "z"]),
    ])
    func aliases_meanOneId_inOneHop(direct: [String: String], expected: [String: String]) {
        #expect(AliasMap.flattened(direct) == expected)
    }
}
