package import Domain

/// What is known of a load: the last answer to each query, and what only its reports say. One a second counts as a reading.
package struct DL24State: Hashable, Sendable {
    /// Whether the load answers queries.
    package enum Queries: String, Sendable {
        /// Not known yet.
        case asked
        case answered
        /// It sends reports and nothing else.
        case silent = "no answer"
    }

    package var queries = Queries.asked
    private(set) var values: [PX100Query: UInt32] = [:]
    /// What a report says where answers fail to come, in their stead.
    private var report: Reading?
    /// What a kilowatt-hour costs, as set in the load; only reports tell.
    package var price: Double?
    /// Seconds until the screen goes dark, out of the last report.
    package var backlight: Int?

    package init() {}

    /// The last value, as it was sent.
    package subscript(query: PX100Query) -> UInt32? {
        get { values[query] }
        set { values[query] = newValue }
    }

    /// The same with a report's reading instead of what was answered.
    func standingIn(_ reading: Reading) -> DL24State {
        var state = self
        state.report = reading
        return state
    }

    /// What stands beside the readings, under the key that Docs/Meters/Atorch.md promises.
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
            // Rounded to the step of the product.
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
