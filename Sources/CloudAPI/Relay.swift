/// One reading of a batch: of one measurement, or of several folded into one.
package struct RelayReadingBody: Codable, Hashable, Sendable {
    /// Milliseconds before the batch was sent.
    package var age: Int64
    /// By the holder's calendar, in milliseconds since 1970.
    package var time: Int64
    /// By quantity, under the keys of `meterctl watch --json`; null where the meter has a quantity and does not know it.
    /// Of several measurements, the mean.
    package var values: [String: Double?]
    /// Number of measurements; absent for one.
    package var count: Int?
    /// Present with `count`.
    package var least: [String: Double?]?
    /// Present with `count`.
    package var greatest: [String: Double?]?

    package init(age: Int64, time: Int64, values: [String: Double?]) {
        self.age = age
        self.time = time
        self.values = values
    }
}

/// `POST …/meters/{meter}/readings`. Answers: 200 `RelayAnswer`, 409 `leaseLost` where the token is not the lease's.
package struct RelayRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64
    /// Rises with each batch under this token.
    package var number: UInt64
    /// Measurements that were dropped since the last batch.
    package var missed: Int
    /// The meter's model, as far as the holder knows.
    package var model: String?
    /// The meter's state at the holder, as `meterctl status` names it.
    package var state: String?
    /// False where the holder keeps its readings to itself, and sends none; absent otherwise.
    package var shared: Bool?
    /// Oldest first.
    package var readings: [RelayReadingBody]

    package init(session: String, token: UInt64, number: UInt64, missed: Int, readings: [RelayReadingBody]) {
        self.session = session
        self.token = token
        self.number = number
        self.missed = missed
        self.readings = readings
    }
}

/// Whether anybody watches.
package struct RelayAnswer: Codable, Hashable, Sendable {
    /// For how many milliseconds to go on; 0 if nobody watches.
    package var interest: Int64

    package init(interest: Int64) { self.interest = interest }
}

/// The `data` of a server-sent event of `GET …/meters/{meter}/readings`. The event's name says which field is present.
package struct RelayEventBody: Codable, Hashable, Sendable {
    /// `readings`: a batch, as the holder sent it.
    package struct Batch: Codable, Hashable, Sendable {
        /// The epoch of the cloud's store. Tokens of two epochs cannot be compared.
        package var epoch: String
        package var token: UInt64
        package var holderID: String
        package var holderName: String
        package var number: UInt64
        package var missed: Int
        package var model: String?
        package var state: String?
        /// False where the holder keeps its readings to itself.
        package var shared: Bool?
        package var readings: [RelayReadingBody]

        package init(
            epoch: String, token: UInt64, holderID: String, holderName: String, number: UInt64, missed: Int,
            readings: [RelayReadingBody]
        ) {
            self.epoch = epoch
            self.token = token
            self.holderID = holderID
            self.holderName = holderName
            self.number = number
            self.missed = missed
            self.readings = readings
        }
    }

    package var batch: Batch?
    /// `holder`: who has the meter; first of all, and with each change.
    package var holder: LeaseBody?
    /// `refused`: a host sent readings under a token that is not the lease's, so it talks to the meter too.
    package var refused: String?
    /// `gap`: this observer was too slow for so many readings.
    package var missed: Int?
    /// `ping`, every 15 s: the cloud's time.
    package var serverTime: Int64?

    package init(
        batch: Batch? = nil, holder: LeaseBody? = nil, refused: String? = nil, missed: Int? = nil,
        serverTime: Int64? = nil
    ) {
        self.batch = batch
        self.holder = holder
        self.refused = refused
        self.missed = missed
        self.serverTime = serverTime
    }

    /// The event's name.
    package var name: String {
        if batch != nil {
            "readings"
        } else if holder != nil {
            "holder"
        } else if refused != nil {
            "refused"
        } else if missed != nil {
            "gap"
        } else {
            "ping"
        }
    }
}

extension CloudLimits {
    /// Most readings in one batch.
    package static let readingsPerBatch = 1000
    /// Most quantities in one reading.
    package static let quantitiesPerReading = 64
    /// Most hosts that may watch one meter at one copy of the cloud.
    package static let watchersPerMeter = 1000
    /// Most meters of a zone that may be watched at one copy of the cloud.
    package static let watchedPerZone = 4096
}
