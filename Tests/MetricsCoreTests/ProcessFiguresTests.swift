import Domain
import Testing

struct ProcessFiguresTests {
    /// Fields 1 to 24 as proc(5) numbers them; the name tries to be mistaken for what follows it.
    private static let stat =
        "42 (a) R 1 (b)) S 1 42 42 0 -1 4194304 500 0 2 0 250 50 0 0 20 0 7 0 12345 104857600 2048 18446744073709551615"

    private func read(_ stat: String) -> ProcessFigures? {
        ProcessFigures(
            stat: stat, bootSeconds: 1_000_000, ticksPerSecond: 100, pageBytes: 4096, openDescriptors: 9,
            descriptorsMax: 1024)
    }

    @Test func figures_areReadFromTheirPlaces() throws {
        let figures = try #require(read(Self.stat))

        #expect(figures.cpuSeconds == 3)
        #expect(figures.threads == 7)
        #expect(figures.startSeconds == 1_000_123.45)
        #expect(figures.virtualBytes == 104_857_600)
        #expect(figures.residentBytes == 2048 * 4096)
    }

    @Test(arguments: ["", ")", "1 (x", "1 (x) S 1 2 3", "1 (x) S 1 42 42 0 -1 0 0 0 0 0 no 50 0 0 20 0 7 0 1 1 1"])
    func otherTexts_areRefused(stat: String) {
        #expect(read(stat) == nil)
    }

    @Test func page_hasEveryMetricOfTheProcess() throws {
        var page = MetricsPage()
        page.add(try #require(read(Self.stat)))

        for metric in ProcessMetrics.all {
            #expect(page.text.contains("# TYPE \(metric.name) \(metric.kind.rawValue)\n\(metric.name) "))
        }
    }
}
