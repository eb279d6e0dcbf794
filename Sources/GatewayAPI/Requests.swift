import Domain

/// `POST /v1/meters/{meter}/connect`.
package struct ConnectRequest: Codable, Hashable, Sendable {
    /// Longest wait for data; absent for no wait.
    package var wait_ms: Int64?
    /// Model of the meter. Only for a meter named by a device path.
    package var model: String?
    /// Meter's own ID, if known. Only for a meter named by a device path.
    package var id: String?
    package var takeover: Bool?
    /// Longest wait in the lease queue; absent for no wait.
    package var queue_ms: Int64?
    /// Time limit for both waits together; if absent, the sum of `queue_ms` and `wait_ms`.
    package var timeout_ms: Int64?
    /// Whether to use the meter without a lease from the cloud. The lease holder is not notified.
    package var no_lease: Bool?
    /// Kind of link to use from now on: `serial`, `hid`, `bulk`, `network`, `ble`, `spp`, or `any` for the default
    /// order. If absent, the present choice remains.
    package var over: String?
    /// User's confirmation. Required for a meter that is new to this host, or to repeat a take-over after which the
    /// meter stayed silent.
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
    /// Command, spelt as on the command line: `next-screen`, `brightness` …
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
    /// Answer to GET only: keys of all settings that a meter can have.
    package var known: [String]?
    /// Answer to GET only: the meter's settings.
    package var details: [SettingBody]?
    /// Answer to a change only: one-time commands with the same effect, by setting.
    package var once: [String: String]?
    /// Answer to a change only: true if this host's rights are read-only, so that no other host receives the change.
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

/// One line of `GET /v1/meters/{meter}/traffic`, and of a capture file.
package struct TrafficLine: Codable, Hashable, Sendable {
    /// Seconds since the capture began.
    package var t: Double
    /// `in`: from the meter. `out`: to the meter.
    package var dir: String
    package var hex: String
    /// Number of messages dropped before this one because the client was too slow; absent if none.
    package var missed: Int?

    package init(t: Double, dir: String, hex: String, missed: Int? = nil) {
        self.t = t
        self.dir = dir
        self.hex = hex
        self.missed = missed
    }
}

/// The first line of a capture file.
package struct CaptureHeader: Codable, Hashable, Sendable {
    package var format: String
    package var version: Int
    package var meter: String
    package var model: String?
    /// Start of the capture, RFC 3339.
    package var started: String

    package init(meter: String, model: String?, started: String) {
        format = "meter-capture"
        version = 1
        self.meter = meter
        self.model = model
        self.started = started
    }
}

/// A meter found now, whether configured or not, in `GET /v1/scan`.
package struct ScanEntry: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    @NullCodable package var name: String?
    /// Kind of the link in use, or of the preferred link if none is in use.
    package var transport: String
    package var port: String
    /// Kinds of all available links, as in `MeterStatus`.
    package var transports: [String]
    /// Signal strength, as in `MeterStatus`.
    @NullCodable package var rssi: Int?
    /// Address of this host's adapter that receives the meter; null over a cable.
    @NullCodable package var adapter: String?
    package var state: String
    /// Name of the host that holds the meter's lease.
    @NullCodable package var holder: String?
    /// Unusual properties of the address: `group-bit`, `locally-administered`. They do not mean a fault.
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

/// Cause of a failed request, with its JSON value.
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
    /// The web page is open to the network, and the client has no session.
    case notAuthenticated = "not-authenticated"
    /// Too many attempts. The message contains the time to wait.
    case tooManyRequests = "too-many-requests"
    case store
    case shuttingDown = "shutting-down"
    case notFound = "not-found"
    case internalError = "internal"
}
