import Domain
import Testing

@testable import meterd

struct SyncConfigurationTests {
    private func read(_ text: String) throws -> SyncTiming { try Configuration(reading: text).sync }

    @Test func defaults_areTheEnginesOwn() throws { #expect(try read("") == SyncTiming()) }

    @Test func reference_namesTheDefaults() throws {
        let keys = ConfigurationKeys.sync.block.lines.map { "\($0.key) = \($0.value)" }.joined(separator: "\n")
        #expect(try read("[sync]\n\(keys)") == SyncTiming())
    }

    @Test func everyKey_isRead() throws {
        let timing = try read(
            """
            [sync]
            poll-interval = "1m"
            retry-first = "2s"
            retry-longest = "1m"
            rate-limit-longest = "10m"
            subscribe-timeout = "3s"
            stream-silence = "40s"
            clean-up-interval = "2h"
            page-records = 100
            batch-records = 50
            batch-kilobytes = 128
            """)

        var expected = SyncTiming()
        expected.pollInterval = .seconds(60)
        expected.backoff = FullJitter(base: .seconds(2), ceiling: .seconds(60))
        expected.rateLimitWaitMax = .seconds(600)
        expected.subscribeTimeout = .seconds(3)
        expected.streamSilence = .seconds(40)
        expected.cleanUpInterval = .seconds(7200)
        (expected.pageRecordsMax, expected.batchRecordsMax, expected.batchBytesMax) = (100, 50, 128 * 1024)
        #expect(timing == expected)
    }

    @Test(arguments: [
        ("poll-interval = \"1s\"", "meterd.toml: sync.poll-interval cannot be \"1s\"\nit takes a time from 10s to 24h"),
        (
            "stream-silence = \"15s\"",
            "meterd.toml: sync.stream-silence cannot be \"15s\"\nit takes a time from 35s to 10m"
        ),
        ("poll = \"1m\"", "meterd.toml: unknown key \"sync.poll\""),
        (
            "retry-first = \"1m\"\nretry-longest = \"5s\"",
            "meterd.toml: sync.retry-first is longer than sync.retry-longest\nmake it shorter"
        ),
    ])
    func illegalValue_isNamedWithWhatIsLegal(text: String, words: String) {
        var said: String?

        do { _ = try read("[sync]\n\(text)") } catch { said = "\(error)" }

        #expect(said?.hasPrefix(words) == true, "\(said ?? "nothing")")
    }
}
