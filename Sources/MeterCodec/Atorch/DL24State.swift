package import Domain

/// The last answer of a load to each query, and values that only reports contain. Each second, this becomes a reading.
package struct DL24State: Hashable, Sendable {
    package enum Queries: String, Sendable {
        case asked
        case answered
        /// The load sends only reports.
        case silent = "no answer"
    }

    package var queries = Queries.asked
    private(set) var values: [PX100Query: UInt32] = [:]
    /// Reading from a report, in place of missing answers.
    private var report: Reading?
    /// Price of a kilowatt-hour; only reports contain it.
    package var price: Double?
    /// Seconds until the screen turns off.
    package var backlight: Int?

    package init() {}

    package subscript(query: PX100Query) -> UInt32? {
        get { values[query] }
        set { values[query] = newValue }
    }

    func standingIn(_ reading: Reading) -> DL24State {
        var state = self
        state.report = reading
        return state
    }

    /// Returns a setting under its key in Docs/Meters/Atorch.md; nil for measured values.
    static func detail(of query: PX100Query, _ raw: UInt32) -> FrameDetail? {
        switch query {
        case .isOn: .told("load_on", .flag(raw == 1))
        case .setCurrent: .told("set_current_A", query.value(of: raw).map { .number($0) } ?? .unknown)
        case .cutoff: .told("cutoff_V", query.value(of: raw).map { .number($0) } ?? .unknown)
        case .timer: .told("timer_s", .integer(Int(PX100.seconds(raw))))
        case .voltage, .current, .time, .charge, .energy, .temperature: nil
        }
    }
}

extension DL24State: FrameContent {
    package var model: ModelName? { .dl24 }
    package var device: DeviceInfo? { DeviceInfo(model: .dl24) }

    package func forEachReading(_ body: (Reading) -> Void) {
        var reading = report ?? answers
        if let voltage = reading[.voltage], let current = reading[.current] {
            reading[.power] = (voltage * current * 1e6).rounded() / 1e6
        }
        body(reading)
    }

    private var answers: Reading {
        var reading = Reading()
        for (query, raw) in values {
            if let quantity = query.quantity { reading[quantity] = query.value(of: raw) }
        }
        if let price { reading[.price] = price }
        return reading
    }

    package var details: [FrameDetail] {
        var details = [FrameDetail.told("queries", .text(queries.rawValue))]
        details += PX100Query.allCases.compactMap { query in values[query].flatMap { Self.detail(of: query, $0) } }
        if let backlight { details.append(.told("backlight_s", .integer(backlight))) }
        return details
    }
}
