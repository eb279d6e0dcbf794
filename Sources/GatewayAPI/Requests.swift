import Domain

/// `POST /v1/meters/{meter}/connect`.
package struct ConnectRequest: Codable, Hashable, Sendable {
    /// Longest wait for data; absent for no wait.
    package var wait_ms: Int64?
    /// Only for a meter named by a device path.
    package var model: String?
    /// The meter's id, if known; only for a meter named by a device path.
    package var id: String?
    package var takeover: Bool?
    /// Longest wait in the lease queue; absent for no wait.
    package var queue_ms: Int64?
    /// Limit for both waits together; absent: the sum of `queue_ms` and `wait_ms`.
    package var timeout_ms: Int64?
    /// Whether to use the meter without a lease. The cloud does not notify the lease holder.
    package var no_lease: Bool?
    /// Kind of link to use from now on: `serial`, `hid`, `bulk`, `network`, `ble`, `spp`, or `any` for the default
    /// order. Absent: no change.
    package var over: String?
    /// User's confirmation. Required for a meter that is new to this host, and to repeat a take-over after which the
    /// meter sent nothing.
    package var yes: Bool?

    package init(wait_ms: Int64? = nil, model: String? = nil, id: String? = nil, over: String? = nil) {
        self.wait_ms = wait_ms
        self.over = over
        self.model = model
        self.id = id
    }
}

/// `POST /v1/meters/{meter}/commands`.
package struct CommandRequest: Codable, Hashable, Sendable {
    /// Spelt as on the command line, such as `next-screen`.
    package var command: String
    package var number: Int?

    package init(command: String, number: Int? = nil) {
        self.command = command
        self.number = number
    }
}

/// `PATCH /v1/meters/{meter}/settings`.
package struct SettingsRequest: Codable, Hashable, Sendable {
    /// Values by key. Null resets a setting to its default.
    package var settings: [String: String?]

    package init(settings: [String: String?]) { self.settings = settings }
}

/// `GET /v1/meters/{meter}/settings`, and the answer to a change.
package struct SettingsBody: Codable, Hashable, Sendable {
    package var settings: [String: String?]
    /// Only in an answer to GET: keys of all settings that a meter can have.
    package var known: [String]?
    /// Settings with defaults and origins; only in an answer to GET.
    package var details: [SettingBody]?
    /// Only in an answer to a change: commands that apply a setting once, by the setting's key.
    package var once: [String: String]?
    /// Only in an answer to a change: true if this host's rights are read-only, so that it does not sync the change.
    package var stays_here: Bool?

    package init(
        settings: [String: String?], known: [String]? = nil, details: [SettingBody]? = nil,
        once: [String: String]? = nil, stays_here: Bool? = nil
    ) {
        self.settings = settings
        self.known = known
        self.details = details
        self.once = once
        self.stays_here = stays_here
    }
}

/// A line of `GET /v1/meters/{meter}/traffic` or of a capture file.
package struct TrafficLine: Codable, Hashable, Sendable {
    /// Seconds since the capture began.
    package var t: Double
    /// `in`: from the meter. `out`: to the meter.
    package var dir: String
    package var hex: String
    /// Records dropped before this one because the client was too slow; absent if none.
    package var missed: Int?

    package init(t: Double, dir: String, hex: String, missed: Int? = nil) {
        self.t = t
        self.dir = dir
        self.hex = hex
        self.missed = missed
    }
}

package struct CaptureHeader: Codable, Hashable, Sendable {
    package var format: String
    package var version: Int
    package var meter: String
    package var model: String?
    /// RFC 3339.
    package var started: String

    package init(meter: String, model: String?, started: String) {
        format = "meter-capture"
        version = 1
        self.meter = meter
        self.model = model
        self.started = started
    }
}

/// A present meter, whether configured or not, in `GET /v1/scan`.
package struct ScanEntry: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    @NullCodable package var name: String?
    /// Kind of the link in use, or of the preferred link if none is in use.
    package var transport: String
    package var port: String
    /// Kinds of all available links, the preferred one first.
    package var transports: [String]
    /// Last signal strength in dBm, as in `MeterStatus`.
    @NullCodable package var rssi: Int?
    /// Address of this host's adapter that detected the meter; null over a cable.
    @NullCodable package var adapter: String?
    package var state: String
    @NullCodable package var holder: String?
    /// Unusual properties of the address: `group-bit`, `locally-administered`. They are not a fault.
    package var flags: [String] = []

    package init(id: String, model: String?, name: String?, transport: String, port: String, state: String) {
        self.id = id
        self.model = model
        self.name = name
        self.transport = transport
        self.port = port
        self.state = state
        transports = [transport]
    }
}

/// `GET /v1/version`.
package struct VersionBody: Codable, Hashable, Sendable {
    package var version: String
    package var commit: String
    package var build: String

    package init(version: String, commit: String, build: String) {
        self.version = version
        self.commit = commit
        self.build = build
    }
}

/// Body of every response with a status of 400 or above.
package struct ErrorBody: Codable, Hashable, Sendable {
    package var code: ErrorCode
    package var message: String
    package var next: String

    package init(code: ErrorCode, message: String, next: String) {
        self.code = code
        self.message = message.bounded
        self.next = next.bounded
    }
}

/// Cause of a failed request, as in its JSON answer.
package enum ErrorCode: String, Codable, Sendable, CaseIterable {
    case badRequest = "bad-request"
    case noSuchMeter = "no-such-meter"
    case ambiguousMeter = "ambiguous-meter"
    case modelUnknown = "model-unknown"
    case notConnected = "not-connected"
    case refused
    case timedOut = "timed-out"
    /// Another host, named in the message, holds the meter's lease.
    case held
    case permission
    /// The web page is open to the network, and the client is not logged in.
    case notAuthenticated = "not-authenticated"
    /// Too many attempts; the message contains the time to wait.
    case tooManyRequests = "too-many-requests"
    case store
    case shuttingDown = "shutting-down"
    case notFound = "not-found"
    case internalError = "internal"
}
