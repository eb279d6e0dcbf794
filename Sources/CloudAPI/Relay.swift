/// A measurement, or several combined.
package struct RelayReadingBody: Codable, Hashable, Sendable {
    /// Age in milliseconds when the batch was sent.
    package var age: Int64
    /// Milliseconds since 1970 by the holder's system clock.
    package var time: Int64
    /// Mean values by quantity, keyed as in `meterctl watch --json`; null without a value.
    package var values: [String: Double?]
    /// Number of measurements; absent for one.
    package var count: Int?
    /// Minimum values; present with `count`.
    package var least: [String: Double?]?
    /// Maximum values; present with `count`.
    package var greatest: [String: Double?]?

    package init(age: Int64, time: Int64, values: [String: Double?]) {
        self.age = age
        self.time = time
        self.values = values
    }
}

/// `POST …/meters/{meter}/readings`. Answers: 200 `RelayAnswer`, 409 `leaseLost` if the fencing token is not the
/// lease's.
package struct RelayRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64
    package var number: UInt64
    /// Number of measurements dropped since the last batch.
    package var missed: Int
    package var model: String?
    /// Connection state of the meter, as in `meterctl status`.
    package var state: String?
    /// False if the holder shares no readings; absent otherwise.
    package var shared: Bool?
    /// In chronological order.
    package var readings: [RelayReadingBody]

    package init(session: String, token: UInt64, number: UInt64, missed: Int, readings: [RelayReadingBody]) {
        self.session = session
        self.token = token
        self.number = number
        self.missed = missed
        self.readings = readings
    }
}

package struct RelayAnswer: Codable, Hashable, Sendable {
    /// Milliseconds for which to continue sending readings; 0 without watchers.
    package var interest: Int64

    package init(interest: Int64) { self.interest = interest }
}

/// Data of a server-sent event of `GET …/meters/{meter}/readings`, whose name says which field is present.
package struct RelayEventBody: Codable, Hashable, Sendable {
    /// Body of a `readings` event: one batch of readings from the lease's holder.
    package struct Batch: Codable, Hashable, Sendable {
        /// Epoch of the cloud's store. Fencing tokens of different epochs cannot be compared.
        package var epoch: String
        package var token: UInt64
        package var holderID: String
        package var holderName: String
        package var number: UInt64
        package var missed: Int
        package var model: String?
        package var state: String?
        /// False if the holder shares no readings; absent otherwise.
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
    /// `holder`: the present lease, sent first and after each change.
    package var holder: LeaseBody?
    /// `refused`: name of a host that sent readings without the lease, so it is connected to the meter too.
    package var refused: String?
    /// `gap`: number of readings lost because this watcher was too slow.
    package var missed: Int?
    /// `ping`, every 15 s: the cloud's wall-clock time, in milliseconds since 1970.
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
    package static let readingsPerBatch = 1000
    package static let quantitiesPerReading = 64
    /// Maximum number of one meter's watchers per replica.
    package static let watchersPerMeter = 1000
    /// Maximum number of a zone's watched meters per replica.
    package static let watchedPerZone = 4096
}
