import CoreTestKit
import Domain
import Testing

/// The laws that let records arrive in any order, twice, and by any route.
struct MergeAlgebraTests {
    @Test(arguments: 0..<40)
    func merge_isCommutative_associative_idempotent(_ portion: Int) {
        for seed in UInt64(portion * 50)..<UInt64(portion * 50 + 50) {
            var rng = SeededRNG(seed: seed)
            let (a, b, c) = (RandomRecord.one(&rng), RandomRecord.one(&rng), RandomRecord.one(&rng))

            let ab = a.merged(with: b)

            #expect(ab == b.merged(with: a), "seed \(seed)")
            #expect(ab.merged(with: c) == a.merged(with: b.merged(with: c)), "seed \(seed)")
            #expect(a.merged(with: a) == a, "seed \(seed)")
            #expect(ab.merged(with: b) == ab, "seed \(seed)")
            #expect((a.merging(b).isEmpty) == (ab == a), "seed \(seed)")
        }
    }
}

/// Records with so few times, hosts and values that they collide in every way.
enum RandomRecord {
    static func one(_ rng: inout SeededRNG, key: RecordKey = Sample.key) -> SyncRecord {
        var properties: [String: Register] = [:]
        for name in ["a", "b", "c"] where rng.chance(60) {
            let value = rng.pick([SettingValue.null, .int(1), .int(2), .string("x"), .bool(true)])
            properties[name] = Register(value: value, stamp: stamp(&rng))
        }
        guard rng.chance(40) else { return SyncRecord(key: key, properties: properties) }
        // Marks are rare, and as in reality: only the rebuild makes one, and only on a name of an older form.
        let mark = key != key.normalised && rng.chance(30) ? key.normalised.name : nil
        return SyncRecord(key: key, properties: properties, deletion: Deletion(stamp: stamp(&rng), mergedInto: mark))
    }

    /// Some forms of one meter's name.
    static func group(_ rng: inout SeededRNG) -> [SyncRecord] {
        ["AA:BB:CC:DD:EE:FF", "aabbccddeeff", "aa-bb-cc-dd-ee-ff", "aabb.ccdd.eeff"].compactMap { name in
            guard rng.chance(70) else { return nil }
            return one(&rng, key: RecordKey(type: .deviceSettings, name: name))
        }
    }

    private static func stamp(_ rng: inout SeededRNG) -> Stamp {
        Sample.stamp(UInt64(rng.below(4)), UInt16(rng.below(2)), rng.pick([Sample.one, Sample.two]))
    }
}
