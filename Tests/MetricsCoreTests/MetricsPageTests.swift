import Domain
import Testing

struct MetricsPageTests {
    private enum Light: String, CaseIterable { case red, green }

    private static let plain = MetricDefinition.gauge("a_volts", "A voltage.")
    private static let labelled = MetricDefinition.counter("b_total", ["meter"], "Things.")

    @Test func page_hasHelpAndTypeOnce_andSamplesBelow_howeverTheyCame() {
        var page = MetricsPage()
        page.add(Self.labelled, ["x"], count: 3)
        page.add(Self.plain, [], 4.999)
        page.add(Self.labelled, ["y"], count: UInt64.max)

        #expect(
            page.text == """
                # HELP b_total Things.
                # TYPE b_total counter
                b_total{meter="x"} 3
                b_total{meter="y"} 1.8446744073709552e+19
                # HELP a_volts A voltage.
                # TYPE a_volts gauge
                a_volts 4.999

                """)
    }

    @Test func nothing_isSaid_ofWhatIsNotKnown() {
        var page = MetricsPage()
        page.add(Self.plain, [], Double?.none)

        #expect(page.text.isEmpty)
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (-2.0, "-2"), (0.1, "0.1"), (.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (1e-7, "1e-07"), (1e300, "1e+300"),
    ])
    func number_isWrittenAsPrometheusReadsIt(value: Double, text: String) {
        var page = MetricsPage()
        page.add(Self.plain, [], value)

        #expect(page.text.hasSuffix("a_volts \(text)\n"))
    }

    /// A name is what a person typed: it must not end its label, its line or the page.
    @Test func label_isEscaped() {
        var page = MetricsPage()
        page.add(Self.labelled, ["a\"} 1\nevil 2 \\ ü"], count: 1)

        #expect(page.text.hasSuffix("b_total{meter=\"a\\\"} 1\\nevil 2 \\\\ ü\"} 1\n"))
        #expect(page.text.split(separator: "\n").count == 3)
    }

    @Test func help_isEscaped() {
        var page = MetricsPage()
        page.add(.gauge("c", "One\nline, \"quoted\", and \\."), [], 1)

        #expect(page.text.hasPrefix("# HELP c One\\nline, \"quoted\", and \\\\.\n"))
    }

    @Test func states_areAllThere_oneOfThemIs1() {
        var page = MetricsPage()
        let definition = MetricDefinition.gauge("light", ["place", "state"], "The light.")
        page.addStates(definition, ["door"], of: Light.self, present: "green")

        #expect(page.text.contains("light{place=\"door\",state=\"red\"} 0\n"))
        #expect(page.text.contains("light{place=\"door\",state=\"green\"} 1\n"))
    }

    @Test func histogram_addsUp() {
        var histogram = MetricHistogram(bounds: [0.1, 1])
        for value in [0.05, 0.1, 0.5, 7] { histogram.observe(value) }
        var page = MetricsPage()
        page.add(.histogram("wait_seconds", ["route"], "A wait."), ["join"], histogram)

        #expect(
            page.text == """
                # HELP wait_seconds A wait.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{route="join",le="0.1"} 2
                wait_seconds_bucket{route="join",le="1"} 3
                wait_seconds_bucket{route="join",le="+Inf"} 4
                wait_seconds_sum{route="join"} 7.65
                wait_seconds_count{route="join"} 4

                """)
    }
}
