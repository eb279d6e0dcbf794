import Foundation
import Testing

/// Style that a machine can check.
struct TidyTests {
    /// Words that have no place in Sources, but for the targets named.
    private static let banned: [(pattern: String, but: [String], why: String)] =
        [
            ("try!", [], "traps on the first bad day"),
            ("fatalError(", [], "no input may reach a trap"),
            ("as! ", [], "traps on a type nobody thought of"),
            ("TODO", [], "belongs in an issue"),
            ("FIXME", [], "belongs in an issue"),
            ("Date()", [], "time is passed in"),
            ("Date.now", ["meterctl"], "time is passed in"),
            ("Task.sleep", ["meterctl"], "time is passed in"),
            (".random(", [], "random numbers are passed in"),
            ("SystemRandomNumberGenerator", ["meterd", "metercloud", "CloudHosting"], "random numbers are passed in"),
            ("ContinuousClock", ["meterd", "meterctl", "metercloud", "CloudHosting"], "clocks are passed in"),
            ("nonisolated(unsafe)", [], "state that two threads share has a lock"),
        ]
        + [
            "DateFormatter", "NumberFormatter", "Locale(", "TimeZone(", "Calendar(identifier", "NSRegularExpression",
            ".localized",
        ].map {
            ($0, [], "needs tables that the package leaves out (Packaging/no-language-tables.c)")
        }

    @Test func sources_useNoBannedWord() throws {
        for target in try SourceTree.targets(in: SourceTree.sources) {
            for file in try SourceTree.swiftFiles(below: SourceTree.sources.appending(path: target)) {
                let code = file.text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
                for rule in Self.banned where !rule.but.contains(target) {
                    let hit = code.first { $0.contains(rule.pattern) }
                    #expect(hit == nil, "\(file.name) uses \(rule.pattern): \(rule.why)")
                }
            }
        }
    }

    /// Who is cancelled has its task locked while what handles that waits for a lock; and who is told something has its task
    /// locked for that. Told within that lock, both wait for ever (`withTaskCancellationHandler`, "Cancellation handlers and
    /// locks").
    @Test func nobody_isToldAnything_withinALockThatWhoLeavesTakes() throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.sources)
        where file.text.contains("onTermination") || file.text.contains("onCancel") {
            for text in file.text.split(separator: "state.withLock").dropFirst() {
                let body = Self.block(text)
                let told = [".yield(", ".resume(", ".finish("].first { body.contains($0) }
                #expect(told == nil, "\(file.name): \(body.prefix(200))")
            }
        }
    }

    /// Up to the brace that closes the first one.
    private static func block(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == "{" { depth += 1 }
            guard text[index] == "}" else { continue }
            depth -= 1
            if depth == 0 { return text[...index] }
        }
        return text
    }

    /// Without a name the library makes one at the start, of all that can be reached from the service: a third of what
    /// meterd did until its first reading.
    @Test func services_haveNames() throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.sources)
        where file.text.contains("import ServiceLifecycle") {
            for call in file.text.split(separator: ".init(")
            where call.trimmingPrefix(while: \.isWhitespace).hasPrefix("service: ") {
                #expect(call.contains("serviceName: "), "\(file.name): \(call.prefix(80))")
            }
        }
    }

    /// But for hosts that use a real cloud in real time, where a pause is a host that does nothing and no wait for a
    /// result.
    @Test func tests_neverSleep() throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.tests)
        where !file.name.hasSuffix("TidyTests.swift")
            && !["Tests/LeaseHistories/", "Tests/Chaos/"].contains(where: { file.name.hasPrefix($0) })
        {
            for word in ["Task.sleep", "usleep(", "Thread.sleep"] {
                #expect(!file.text.contains(word), "\(file.name) uses \(word)")
            }
        }
    }

    /// A test that waits for what never comes fails and says so (`eventually`); it does not keep a core busy until
    /// somebody looks.
    @Test func tests_neverSpinWithoutAnEnd() throws {
        for folder in [SourceTree.tests, SourceTree.sources.appending(path: "MeterTestKit")] {
            for file in try SourceTree.swiftFiles(below: folder)
            where !["TidyTests.swift", "Eventually.swift"].contains(where: { file.name.hasSuffix($0) }) {
                #expect(!file.text.contains("Task.yield"), "\(file.name) uses Task.yield")
            }
        }
    }

    /// A field that somebody adds to a body of an API, or to what a program prints, is in its JSON: the compiler writes
    /// the encoding, and what may be null says so (`NullCodable`). What is left has no fields to forget: one value, a
    /// choice of several, or keys that are known at run time. A record has RecordText beside it, and tests compare the
    /// two.
    @Test func bodies_leaveTheirEncodingToTheCompiler() throws {
        let byHand = try SourceTree.swiftFiles(below: SourceTree.sources)
            .filter { $0.text.contains("func encode(to") }.map(\.name)
        #expect(
            Set(byHand) == [
                "Sources/GatewayAPI/NullCodable.swift", "Sources/GatewayAPI/ReadingBody.swift",
                "Sources/Domain/MeterModel/TelemetryBody.swift",
                "Sources/CloudAPI/Leases.swift", "Sources/CloudAPI/RecordPage.swift",
                "Sources/CloudAPI/SyncRecord+Codable.swift",
                "Sources/meterctl/Identify/IdentityRow.swift", "Sources/meterctl/Output/DecodedFrame.swift",
            ])
    }

    /// A function that does not fit a screen hides its bugs. The wall is 70 lines, with no exceptions.
    @Test func functions_fitAScreen() throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.sources) {
            for function in functions(in: file.text) {
                #expect(function.length <= 70, "\(file.name): \(function.name) has \(function.length) lines")
            }
        }
    }

    @Test func functionFinder_measuresWhatItShould() {
        let text = """
            struct A {
                func short() { 1 }
                func long(
                    a: Int
                ) {
                    if a > 1 {
                    }
                }
            }
            """
        #expect(functions(in: text).map(\.name) == ["short", "long"])
        #expect(functions(in: text).map(\.length) == [1, 6])
    }
}

/// Functions and how many lines they take, found by their indentation, which swift-format keeps honest.
private func functions(in source: String) -> [(name: String, length: Int)] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    var found: [(name: String, length: Int)] = []
    for (index, line) in lines.enumerated() {
        let indent = line.prefix { $0 == " " }.count
        guard let start = line.range(of: "func ") else { continue }
        let before = line[..<start.lowerBound]
        guard !before.contains("//"), before.allSatisfy({ $0.isLetter || $0 == " " || $0 == "@" || $0 == "_" }) else {
            continue
        }
        let name = String(line[start.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        guard !line.hasSuffix("}") else {
            found.append((name, 1))
            continue
        }
        let rest = lines[(index + 1)...]
        guard
            let end = rest.firstIndex(where: {
                $0.prefix { $0 == " " }.count == indent && $0.hasPrefix(String(repeating: " ", count: indent) + "}")
            })
        else { continue }
        found.append((name, end - index + 1))
    }
    return found
}
