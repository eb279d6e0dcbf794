/// One reading of a batch: one measurement, or several combined into one.
package struct RelayReadingBody: Codable, Hashable, Sendable {
    /// Age of the reading when the batch was sent, in milliseconds.
    package var age: Int64
    /// Milliseconds since 1970 by the holder's calendar.
    package var time: Int64
    /// Mean values by quantity, under the keys of `meterctl watch --json`; null without a value.
    package var values: [String: Double?]
    /// Number of measurements; absent for one.
    package var count: Int?
    /// Least values; present with `count`.
    package var least: [String: Double?]?
    /// Greatest values; present with `count`.
    package var greatest: [String: Double?]?

    package init(age: Int64, time: Int64, values: [String: Double?]) {
        self.age = age
        self.time = time
        self.values = values
    }
}

/// `POST …/meters/{meter}/readings`. Answers: 200 `RelayAnswer`, 409 `leaseLost` if the token is not the lease's.
package struct RelayRequest: Codable, Hashable, Sendable {
    package var session: String
    package var token: UInt64
    package var number: UInt64
    /// Number of measurements dropped since the last batch.
    package var missed: Int
    package var model: String?
    /// State of the meter at the holder, as in `meterctl status`.
    package var state: String?
    /// False if the holder does not share its readings, so that it sends none; absent otherwise.
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

package struct RelayAnswer: Codable, Hashable, Sendable {
    /// Milliseconds for which to continue sending; 0 without watchers.
    package var interest: Int64

    package init(interest: Int64) { self.interest = interest }
}

/// `data` of a server-sent event of `GET …/meters/{meter}/readings`. The event's name says which field is present.
package struct RelayEventBody: Codable, Hashable, Sendable {
    /// `readings`: a batch from the holder.
    package struct Batch: Codable, Hashable, Sendable {
        /// Epoch of the cloud's store. Lease tokens of different epochs cannot be compared.
        package var epoch: String
        package var token: UInt64
        package var holderID: String
        package var holderName: String
        package var number: UInt64
        package var missed: Int
        package var model: String?
        package var state: String?
        /// False if the holder does not share its readings; absent otherwise.
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
    /// `holder`: the present lease, sent first, and again after each change.
    package var holder: LeaseBody?
    /// `refused`: name of a host that sent readings without the lease, so it is connected to the meter too.
    package var refused: String?
    /// `gap`: number of readings that this observer lost because it was too slow.
    package var missed: Int?
    /// `ping`, every 15 s: the cloud's time, in milliseconds since 1970.
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
    /// Maximum number of hosts that watch one meter at one replica.
    package static let watchersPerMeter = 1000
    /// Maximum number of a zone's meters watched at one replica.
    package static let watchedPerZone = 4096
}
