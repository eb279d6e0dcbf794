import Domain
import GatewayAPI

/// A recording as an SVG: voltage, current and power over time, each with a band from minimum to maximum and a line of
/// means, broken at unknown values. Gaps of the recording are grey.
struct RecordingPlot {
    /// Maximum number of points: one for every half pixel.
    static let pointsMax = 1400

    private let recording: RecordingBody
    private let series: SeriesBody
    private let panels: [(quantity: Quantity, column: SeriesBody.Column, colour: String)]
    private let axis: PlotAxis
    /// Gaps in seconds since the series' start, with their causes.
    private let gaps: [(from: Double, to: Double, cause: String)]

    private static let width = 900.0
    private static let left = 70.0
    private static let right = 20.0
    private static let top = 64.0
    private static let panelHeight = 170.0
    private static let panelGap = 24.0
    private static let bottom = 56.0

    /// - Returns: nil if there is nothing to draw.
    init?(_ recording: RecordingBody, _ series: SeriesBody) {
        let colours: [(Quantity, String)] = [(.voltage, "#1f6fb4"), (.current, "#c8501e"), (.power, "#2c8a4b")]
        var panels: [(quantity: Quantity, column: SeriesBody.Column, colour: String)] = []
        for (quantity, colour) in colours {
            guard let column = series.series[quantity.key] else { continue }
            panels.append((quantity: quantity, column: column, colour: colour))
        }
        self.panels = panels
        guard !panels.isEmpty, let last = series.t_ms.last else { return nil }
        self.recording = recording
        self.series = series
        let start = WallTime(series.start)
        func seconds(until text: String) -> Double? {
            guard let start, let time = WallTime(text) else { return nil }
            return Double(time.millisecondsSince1970 - start.millisecondsSince1970) / 1000
        }
        // Draw up to the recording's end, because the recording may end with a gap.
        let length = max(Double(last) / 1000, seconds(until: recording.until) ?? 0, 1)
        axis = PlotAxis(lengthInSeconds: length)
        gaps = recording.gaps.compactMap { gap in
            guard let from = seconds(until: gap.start), from < length else { return nil }
            return (max(0, from), min(from + Double(gap.duration_ms) / 1000, length), gap.cause)
        }
    }

    private var height: Double {
        Self.top + Double(panels.count) * (Self.panelHeight + Self.panelGap) - Self.panelGap + Self.bottom
    }

    var svg: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Self.width.svg) \#(height.svg)" "#
                + #"width="\#(Self.width.svg)" height="\#(height.svg)" font-family="sans-serif" font-size="12" role="img">"#,
            "<title>\(title.xmlEscaped)</title>",
            #"<rect width="100%" height="100%" fill="white"/>"#,
            text(title, x: Self.left, y: 24, size: 16, weight: "bold"),
            text(summary, x: Self.left, y: 44, colour: "#444444"),
        ]
        for index in panels.indices { lines += panel(index) }
        lines += timeAxis()
        lines.append("</svg>")
        return lines.joined(separator: "\n")
    }

    private var title: String { "\(recording.name ?? "Recording \(recording.id)") – \(recording.meter)" }

    private var summary: String {
        let sums =
            "\(Formatting.quantity(.charge, recording.charge_mAh)), \(Formatting.quantity(.energy, recording.energy_Wh))"
        let count = recording.gap_count
        let gaps =
            count > 0
            ? ", \(count) gap\(count == 1 ? "" : "s") of \(Formatting.span(milliseconds: recording.gap_ms))" : ""
        return "\(recording.started), \(Formatting.span(milliseconds: recording.duration_ms)), \(sums)\(gaps)"
    }

    // MARK: Panels

    private func x(_ seconds: Double) -> Double {
        Self.left + seconds / axis.lengthInSeconds * (Self.width - Self.left - Self.right)
    }

    private func x(ofPoint place: Int) -> Double { x(Double(series.t_ms[place]) / 1000) }

    private func panel(_ index: Int) -> [String] {
        let (quantity, column, colour) = panels[index]
        let top = Self.top + Double(index) * (Self.panelHeight + Self.panelGap)
        let scale = PlotScale(
            from: column.min.compactMap(\.self).min() ?? 0, to: column.max.compactMap(\.self).max() ?? 1)
        func y(_ value: Double) -> Double {
            top + Self.panelHeight - (value - scale.low) / (scale.high - scale.low) * Self.panelHeight
        }
        var lines = gapBoxes(top: top)
        for tick in scale.ticks {
            let height = y(tick)
            lines.append(line(Self.left, height, Self.width - Self.right, height, "#dddddd"))
            lines.append(text(scale.label(tick), x: Self.left - 6, y: height + 4, anchor: "end"))
        }
        lines.append(line(Self.left, top, Self.left, top + Self.panelHeight, "#444444"))
        lines.append(
            line(Self.left, top + Self.panelHeight, Self.width - Self.right, top + Self.panelHeight, "#444444"))
        lines.append(
            text("\(quantity.words) (\(quantity.unit))", x: Self.left + 6, y: top + 14, colour: colour, weight: "bold"))
        for run in runs(of: column) {
            let upper = run.map { "\(x(ofPoint: $0).svg),\(y(column.max[$0] ?? 0).svg)" }
            let lower = run.reversed().map { "\(x(ofPoint: $0).svg),\(y(column.min[$0] ?? 0).svg)" }
            let means = run.map { "\(x(ofPoint: $0).svg),\(y(column.mean[$0] ?? 0).svg)" }
            if run.count == 1, let place = run.first {
                lines.append(
                    #"<circle cx="\#(x(ofPoint: place).svg)" cy="\#(y(column.mean[place] ?? 0).svg)" r="1.5" fill="\#(colour)"/>"#
                )
                continue
            }
            lines.append(
                #"<polygon points="\#((upper + lower).joined(separator: " "))" fill="\#(colour)" fill-opacity="0.25"/>"#
            )
            lines.append(
                #"<polyline points="\#(means.joined(separator: " "))" fill="none" stroke="\#(colour)" stroke-width="1.2"/>"#
            )
        }
        return lines
    }

    /// Returns the indices of the points of each unbroken part of the line.
    private func runs(of column: SeriesBody.Column) -> [[Int]] {
        var runs: [[Int]] = [[]]
        // The lists have equal length, but another version of meterd might send unequal ones.
        let count = min(series.t_ms.count, column.min.count, column.max.count, column.mean.count)
        for place in 0..<count {
            if column.mean[place] != nil {
                runs[runs.count - 1].append(place)
            } else if runs.last != [] {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }

    /// Returns an SVG box for each gap, at least one pixel wide to be visible in a long recording.
    private func gapBoxes(top: Double) -> [String] {
        gaps.map { gap in
            let words = RecordingText.words(forCause: gap.cause)
            return #"<rect class="gap" x="\#(x(gap.from).svg)" y="\#(top.svg)" "#
                + #"width="\#(max(x(gap.to) - x(gap.from), 1).svg)" height="\#(Self.panelHeight.svg)" fill="gray" "#
                + #"fill-opacity="0.18"><title>gap: \#(words.xmlEscaped)</title></rect>"#
        }
    }

    private func timeAxis() -> [String] {
        let bottom = height - Self.bottom
        var lines: [String] = []
        for second in axis.ticks {
            let place = x(second)
            lines.append(line(place, bottom, place, bottom + 5, "#444444"))
            lines.append(text(axis.label(second), x: place, y: bottom + 19, anchor: "middle"))
        }
        lines.append(
            text(
                "time since the start (\(axis.unit))", x: (Self.left + Self.width - Self.right) / 2, y: bottom + 40,
                anchor: "middle"))
        return lines
    }

    // MARK: Elements

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        #"<line x1="\#(x1.svg)" y1="\#(y1.svg)" x2="\#(x2.svg)" y2="\#(y2.svg)" stroke="\#(colour)"/>"#
    }

    private func text(
        _ words: String, x: Double, y: Double, size: Int = 12, colour: String = "#222222", anchor: String = "start",
        weight: String = "normal"
    ) -> String {
        #"<text x="\#(x.svg)" y="\#(y.svg)" font-size="\#(size)" font-weight="\#(weight)" fill="\#(colour)" "#
            + #"text-anchor="\#(anchor)">\#(words.xmlEscaped)</text>"#
    }
}

extension Quantity {
    fileprivate var words: String {
        switch self {
        case .voltage: "Voltage"
        case .current: "Current"
        case .power: "Power"
        default: key
        }
    }
}

extension Double {
    fileprivate var svg: String {
        let text = Formatting.decimal(self, digits: 2)
        return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
    }
}

extension String {
    /// Escapes special characters and removes forbidden control characters, for XML elements and attributes.
    var xmlEscaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&apos;"
            case "\t", "\n", "\r": text += " "
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
